"""A lesson as one side of a comparison, and what its situation and subject tell beyond its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tributary.core.normal import normal_text, subject_key
from tributary.core.ports import JudgedText
from tributary.models.judges.claim import Claim, Item
from tributary.models.judges.reading import read
from tributary.models.judges.slots import TYPED
from tributary.models.judges.sorts import Sort

_NAMING = frozenset({Sort.NAME, Sort.ADDRESS, Sort.PATH, Sort.CHANNEL})
_LEAST_TELLING = 0.5
_LEAST_SHARED = 0.34
_ENOUGH_TO_STAND_ALONE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A lesson read once, however many it is compared with. `context` is what situation and subject speak of."""

    text: str
    situation: str
    subject: str | None
    claim: Claim
    context: frozenset[str]
    context_names: frozenset[str]
    environments: frozenset[str]

    @property
    def stands_alone(self) -> bool:
        """Tells whether the text says by itself what it is about: "pause ingestion first" does not."""
        items = self.claim.items
        return sum(item.weight for item in items) >= _ENOUGH_TO_STAND_ALONE or any(item.sort in TYPED for item in items)


def side_of(judged: JudgedText) -> Side:
    """Reads a lesson."""
    claim = read(judged.text)
    context = read(f"{judged.situation}. {judged.subject or ''}").items
    return Side(
        text=normal_text(judged.text).rstrip(".!"),
        situation=normal_text(judged.situation).rstrip(".!"),
        subject=subject_key(judged.subject),
        claim=claim,
        context=frozenset(item.key for item in context if item.weight >= _LEAST_TELLING),
        context_names=_names(context),
        environments=_environments((*claim.items, *context)),
    )


def situations_meet(old: Side, new: Side) -> bool:
    """Tells whether a third of what either situation speaks of is shared; one that says nothing meets any."""
    if not old.context or not new.context:
        return True
    return len(old.context & new.context) >= _LEAST_SHARED * min(len(old.context), len(new.context))


def situations_name_others(old: Side, new: Side) -> bool:
    """Tells whether the situations name different things, and the texts name nothing in common."""
    if not old.context_names or not new.context_names or old.context_names & new.context_names:
        return False
    return not _names(old.claim.items) & _names(new.claim.items)


def subjects_differ(old: Side, new: Side) -> bool:
    """Tells whether the subjects, where both are given, have no word in common."""
    if old.subject is None or new.subject is None:
        return False
    return set(old.subject.split("-")).isdisjoint(new.subject.split("-"))


def _names(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(item.key for item in items if item.sort in _NAMING)


def _environments(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(item.key for item in items if item.sort is Sort.ENVIRONMENT)
