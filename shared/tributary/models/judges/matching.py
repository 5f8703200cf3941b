"""Which items of two claims meet, and what is left over on either side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tributary.models.judges.alike import like
from tributary.models.judges.claim import Claim, Item, Role
from tributary.models.judges.sorts import Sort
from tributary.models.judges.words import VERBS, concept_of, stem

_NAME_JOINERS = re.compile(r"[-_./:]+")
_ASIDE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """Pairs of meeting items, and the leftovers of the old and of the new claim, in order."""

    pairs: tuple[tuple[Item, Item], ...]
    old: tuple[Item, ...]
    new: tuple[Item, ...]


def match(old: Claim, new: Claim) -> Matching:
    """Pairs the claims' items one to one: equal keys first, then names with the words they are made of, then words alike."""
    work = _Work(old=old.items, new=new.items)
    for same_sign, same_role in ((True, True), (True, False), (False, True), (False, False)):
        work.pair_equal(same_sign=same_sign, same_role=same_role)
    work.pair_names()
    work.pair_alike()
    return Matching(pairs=tuple(work.pairs), old=tuple(work.free_old.values()), new=tuple(work.free_new.values()))


def weight_of(items: Iterable[Item]) -> float:
    """Returns the weight of `items`; asides count for half."""
    return sum(item.weight * (_ASIDE_SHARE if item.role is Role.ASIDE else 1.0) for item in items)


class _Work:
    """The items not yet paired, by their place, and the pairs so far."""

    def __init__(self, *, old: Sequence[Item], new: Sequence[Item]) -> None:
        self.free_old = {item.place: item for item in old}
        self.free_new = {item.place: item for item in new}
        self.pairs: list[tuple[Item, Item]] = []

    def pair_equal(self, *, same_sign: bool, same_role: bool) -> None:
        by_key: dict[str, list[Item]] = defaultdict(list)
        for item in self.free_new.values():
            by_key[_group(item)].append(item)
        for item in list(self.free_old.values()):
            meeting = [
                other
                for other in by_key[_group(item)]
                if other.place in self.free_new
                and _equal(item, other)
                and (not same_sign or item.sign == other.sign)
                and (not same_role or item.role is other.role)
            ]
            if meeting:
                other = min(meeting, key=lambda candidate: abs(candidate.place - item.place))
                del self.free_old[item.place], self.free_new[other.place]
                self.pairs.append((item, other))

    def pair_names(self) -> None:
        """Pairs 'deploy-api' with 'deploy API'."""
        self.pairs.extend(_spelled_out(self.free_old, self.free_new))
        self.pairs.extend((item, name) for name, item in _spelled_out(self.free_new, self.free_old))

    def pair_alike(self) -> None:
        """Pairs "closed after 60 s" with "dropped after 60 s", which are no synonyms everywhere, and names with equal words."""
        for item in [item for item in self.free_old.values() if item.sort is Sort.WORD]:
            keys, root = like(item.key), stem(item.surface)
            meeting = [
                other
                for other in self.free_new.values()
                if other.sort is Sort.WORD
                and (
                    (other.key in keys and not (item.named or other.named) and not _only_supposed(item, other))
                    or stem(other.surface) == root
                )
            ]
            if meeting:
                other = min(meeting, key=lambda candidate: (candidate.role is not item.role, abs(candidate.place - item.place)))
                del self.free_old[item.place], self.free_new[other.place]
                self.pairs.append((item, other))


def _only_supposed(a: Item, b: Item) -> bool:
    """Tells whether what happens in one is a mere condition in the other: "valid for" and "before it expires"."""
    return (a.role is Role.CONDITION) is not (b.role is Role.CONDITION) and (stem(a.surface) in VERBS or stem(b.surface) in VERBS)


def _spelled_out(named: dict[int, Item], worded: dict[int, Item]) -> list[tuple[Item, Item]]:
    """Takes each name whose parts stand as words on the other side out of both, and returns the name with each word."""
    pairs: list[tuple[Item, Item]] = []
    for item in [item for item in named.values() if item.sort is Sort.NAME]:
        parts = {concept_of(part).key for part in _NAME_JOINERS.split(item.key) if part}
        found = {other.key: other for other in worded.values() if other.key in parts}
        if len(parts) < 2 or len(found) < len(parts):
            continue
        del named[item.place]
        for word in found.values():
            del worded[word.place]
            pairs.append((item, word))
    return pairs


def _group(item: Item) -> str:
    """Returns what equal items have in common: quantities of one dimension may be equal under different keys."""
    return item.quantity.dimension if item.quantity is not None else item.key


def _equal(a: Item, b: Item) -> bool:
    if a.quantity is not None and b.quantity is not None:
        return a.quantity.equals(b.quantity)
    return a.key == b.key
