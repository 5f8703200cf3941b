"""A lesson as one side of a comparison, and what its situation and subject tell beyond its text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tributary.core.normal import normal_text, subject_key
from tributary.core.ports import JudgedText
from tributary.models.judges.claim import Claim, Item
from tributary.models.judges.matching import match
from tributary.models.judges.reading import read
from tributary.models.judges.slots import TYPED, replaced
from tributary.models.judges.sorts import Sort
from tributary.models.judges.words import VERBS, concept_of, stem

_NAMING = frozenset({Sort.NAME, Sort.ADDRESS, Sort.PATH, Sort.CHANNEL})
_LEAST_TELLING = 0.5
_LEAST_SHARED = 0.34
_NEARLY_SHARED = 0.6
_ENOUGH_TO_STAND_ALONE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A lesson read once, however many it is compared with. `context` is what situation and subject speak of."""

    text: str
    situation: str
    subject: str | None
    subject_words: frozenset[str]
    claim: Claim
    situation_claim: Claim
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
    situation = read(judged.situation)
    context = (*situation.items, *read(judged.subject or "").items)
    return Side(
        text=normal_text(judged.text).rstrip(".!"),
        situation=normal_text(judged.situation).rstrip(".!"),
        subject=subject_key(judged.subject),
        subject_words=_words(judged.subject or ""),
        claim=claim,
        situation_claim=situation,
        context=frozenset(item.key for item in context if item.weight >= _LEAST_TELLING),
        context_names=_names(context),
        environments=_environments((*claim.items, *context)),
    )


def situations_meet(old: Side, new: Side) -> bool:
    """Tells whether a third of what either situation speaks of is shared; one that says nothing meets any."""
    if not old.context or not new.context:
        return True
    return len(old.context & new.context) >= _LEAST_SHARED * min(len(old.context), len(new.context))


def situations_alike(old: Side, new: Side) -> bool:
    """Tells whether both situations say something, and the shorter of them hardly anything that the longer does not."""
    shared, shorter = len(old.context & new.context), min(len(old.context), len(new.context))
    return bool(shorter) and (shared == shorter or (shared > 1 and shared >= _NEARLY_SHARED * shorter))


def situations_name_others(old: Side, new: Side) -> bool:
    """Tells whether the situations name different things, and the texts name nothing in common."""
    if not old.context_names or not new.context_names or old.context_names & new.context_names:
        return False
    return not _names(old.claim.items) & _names(new.claim.items)


def situations_differ_by_a_name(old: Side, new: Side) -> bool:
    """Tells "sizing the relay" from "sizing the mixer", for texts that don't say by themselves what they are about."""
    if (old.stands_alone and new.stands_alone) or old.situation == new.situation:
        return False
    matching = match(old.situation_claim, new.situation_claim)
    names = replaced(matching)
    if not matching.pairs or not names or len(names) != len(matching.old) or len(names) != len(matching.new):
        return False
    spoken = {item.key for item in (*old.claim.items, *new.claim.items)}
    return all(
        item.weight >= 1
        and item.sort is Sort.WORD
        and item.sign == 0
        and stem(item.surface) not in VERBS
        and item.key not in spoken
        for r in names
        for item in (r.old, r.new)
    )


def subjects_differ(old: Side, new: Side) -> bool:
    """Tells whether both subjects are given and have no word in common, nor do the texts both speak of either."""
    if old.subject is None or new.subject is None or old.subject_words & new.subject_words:
        return False
    spoken = {item.key for item in old.claim.items} & {item.key for item in new.claim.items}
    return spoken.isdisjoint(old.subject_words | new.subject_words)


def _names(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(item.key for item in items if item.sort in _NAMING)


def _environments(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(item.key for item in items if item.sort is Sort.ENVIRONMENT)


def _words(subject: str) -> frozenset[str]:
    """Returns the keys of a subject's words, names taken apart."""
    parts = re.split(r"[\W_]+", normal_text(subject))
    return frozenset(concept_of(part).key for part in parts if part) | {subject}
