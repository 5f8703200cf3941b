"""Which items of two claims meet, and what is left over on either side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import Claim, Item, Role, in_active_voice
from tributary.models.judges.tokens import Sort
from tributary.models.judges.words import concept_of

_NAME_JOINERS = re.compile(r"[-_./:]+")
_ASIDE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """Pairs of meeting items, and the leftovers of the old and of the new claim."""

    pairs: tuple[tuple[Item, Item], ...]
    old: tuple[Item, ...]
    new: tuple[Item, ...]


def match(old: Claim, new: Claim) -> Matching:
    """Pairs the claims' items one to one: equal keys first, then names with the words they are made of."""
    pairs: list[tuple[Item, Item]] = []
    mixed = old.agent is not new.agent
    free_old = list(in_active_voice(old.items) if mixed and old.agent else old.items)
    free_new = list(in_active_voice(new.items) if mixed and new.agent else new.items)
    for same_sign, same_role in ((True, True), (True, False), (False, True), (False, False)):
        _pair_equal(free_old, free_new, pairs, same_sign=same_sign, same_role=same_role)
    _pair_names(free_old, free_new, pairs, swapped=False)
    _pair_names(free_new, free_old, pairs, swapped=True)
    return Matching(pairs=tuple(pairs), old=tuple(free_old), new=tuple(free_new))


def weight_of(items: Sequence[Item]) -> float:
    """Returns the weight of `items`; asides count for half."""
    return sum(item.weight * (_ASIDE_SHARE if item.role is Role.ASIDE else 1.0) for item in items)


def _equal(a: Item, b: Item) -> bool:
    if a.quantity is not None and b.quantity is not None:
        return a.quantity.equals(b.quantity)
    return a.key == b.key


def _pair_equal(
    old: list[Item], new: list[Item], pairs: list[tuple[Item, Item]], *, same_sign: bool, same_role: bool
) -> None:
    for item in list(old):
        meeting = [
            other
            for other in new
            if _equal(item, other)
            and (not same_sign or item.sign == other.sign)
            and (not same_role or item.role is other.role)
        ]
        if meeting:
            other = min(meeting, key=lambda candidate: abs(candidate.place - item.place))
            old.remove(item)
            new.remove(other)
            pairs.append((item, other))


def _pair_names(named: list[Item], worded: list[Item], pairs: list[tuple[Item, Item]], *, swapped: bool) -> None:
    """Pairs 'deploy-api' with 'deploy API'."""
    for item in [item for item in named if item.sort is Sort.NAME]:
        parts = [concept_of(part).key for part in _NAME_JOINERS.split(item.key) if part]
        if len(parts) < 2:
            continue
        found = [next((other for other in worded if other.key == part), None) for part in parts]
        words = [other for other in found if other is not None]
        if len(words) < len(parts):
            continue
        named.remove(item)
        for word in words:
            if word in worded:
                worded.remove(word)
            pairs.append((word, item) if swapped else (item, word))
