"""What one claim says of a part only: a place, a time, a condition, an exception, that the other claim does not know of.

The narrower of two lessons is never the same as the wider: called that, one of them would be lost. An exception or an "only"
denies a part of what is said in general; any other narrowing can stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import EXCEPT, ONLY, Claim, Item, Role
from tributary.models.judges.matching import Matching
from tributary.models.judges.sorts import Sort
from tributary.models.judges.words import concept_of

_EXCEPTIONS = frozenset({EXCEPT, ONLY, "UNLESS"})
_OPENERS = _EXCEPTIONS | frozenset(
    (
        "of for in at on to from with within under between against across inside outside behind that "
        "IF UNTIL WITHOUT BEFORE AFTER"
    ).split()
)
_DETAILING = frozenset({"by", "per", "via", "through", "into", "onto"})
_NARROWING_SORTS = frozenset({Sort.DAY, Sort.ENVIRONMENT, Sort.REGION, Sort.ZONE})
_NARROWING_WORDS = frozenset(concept_of(word).key for word in "nightly overnight".split())
_EXEMPTING = frozenset({"exempt", "exempted", "excepted"})
_REASONS = frozenset(concept_of(word).key for word in "reason purpose sake".split())
_LEAST_TELLING = 0.5
_WHOLE = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Qualifier:
    """A phrase of one claim that narrows what both say."""

    items: tuple[Item, ...]
    excepts: bool

    @property
    def surface(self) -> str:
        return self.items[0].surface


def qualifiers(claim: Claim, other: Claim, left: Sequence[Item], shared: Sequence[Item]) -> list[Qualifier]:
    """Returns the qualifiers of `claim` of which all is `left` over, and some of it new to both claims."""
    known = {item.key for item in other.items} | {item.key for item in shared}
    sentences = {item.sentence for item in shared}
    free = {item.place for item in left}
    new = {item.place for item in left if item.key not in known}
    nouns = {item.key for item in shared if item.sort is Sort.WORD} if _says_all_of(claim, other, shared) else set()
    exempting = [item for item in claim.items if item.surface in _EXEMPTING and item.place in new]
    found = [Qualifier(items=(item,), excepts=True) for item in exempting]
    phrases: dict[int, list[Item]] = {}
    for item in claim.items:
        if item.weight >= _LEAST_TELLING and item.role is not Role.ASIDE and item.sentence in sentences:
            phrases.setdefault(item.phrase, []).append(item)
    for items in phrases.values():
        places = {item.place for item in items}
        opens = items[0].opener in _OPENERS or (nouns and items[0].opener in _DETAILING)
        if opens and places <= free and places & new and not _says_why(items):
            found.append(Qualifier(items=tuple(items), excepts=items[0].opener in _EXCEPTIONS))
        else:
            narrowing = [i for i in items if i.place in new and (_narrows(i) or (nouns and _details(i, nouns)))]
            found += [Qualifier(items=(i,), excepts=False) for i in narrowing]
    return found


def _says_all_of(claim: Claim, other: Claim, shared: Sequence[Item]) -> bool:
    """Tells whether `claim` repeats `other`, built alike, so that whatever it has beside can only be a detail."""
    if (claim.predicate, claim.passive, claim.imperative) != (other.predicate, other.passive, other.imperative):
        return False
    keys = {item.key for item in shared}
    return all(item.key in keys for item in other.items if item.weight >= _LEAST_TELLING)


def _details(item: Item, nouns: set[str]) -> bool:
    """Tells the "large" of "large uploads", "hourly" and "locally" from the "more" of "two more workers"."""
    if item.quantity is not None:
        return item.role in (Role.VALUE, Role.SCOPE) and item.quantity.dimension != "count"
    if item.sort is not Sort.WORD or item.weight < _WHOLE or item.before.startswith("count:"):
        return False
    if item.role is Role.SUBJECT:
        return item.after in nouns
    plain = item.sign == 0 or item.surface.endswith("ly")
    return item.role in (Role.VALUE, Role.SCOPE) and plain and not item.opener


def _says_why(items: Sequence[Item]) -> bool:
    """Tells "for historic reasons" from "for contractors"."""
    return any(item.key in _REASONS for item in items)


def _narrows(item: Item) -> bool:
    return item.sort in _NARROWING_SORTS or item.key in _NARROWING_WORDS


def excepted(matching: Matching) -> bool:
    """Tells "except on Fridays" where the other speaks of Fridays: what the one says of them, it denies."""
    return any(
        (a.opener == EXCEPT) != (b.opener == EXCEPT) and min(a.weight, b.weight) >= _WHOLE and _one_condition(a, b)
        for a, b in matching.pairs
    )


def _one_condition(a: Item, b: Item) -> bool:
    return (a.role is Role.CONDITION) != (b.role is Role.CONDITION)


def only_one_restricts(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "only on Fridays" from "on Fridays"; what the other puts as a demand, a denial or an order may come to the same."""
    for a, b in matching.pairs:
        for restricting, free, claim in ((a, b, new), (b, a, old)):
            if restricting.opener == ONLY and free.opener != ONLY and free.weight >= _WHOLE and not _restricts(claim):
                return True
    return False


def _restricts(claim: Claim) -> bool:
    return claim.only or claim.need > 0 or bool(claim.orders) or any(item.negated or item.sign < 0 for item in claim.items)
