"""What sets two claims against each other, kind by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tributary.models.judges.claim import Claim, Item, Order, Role
from tributary.models.judges.matching import Matching
from tributary.models.judges.lexicon import STOP_WORDS
from tributary.models.judges.tokens import Sort

_MAIN = frozenset({Role.SUBJECT, Role.PREDICATE, Role.VALUE, Role.SCOPE, Role.ASIDE})
_HALF = 0.5
TYPED = frozenset({Sort.NAME, Sort.PATH, Sort.ADDRESS, Sort.REGION, Sort.VERSION, Sort.BOOLEAN, Sort.DAY, Sort.CHANNEL})


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """How often the claims' polarities differ: by negation, and by words that are each other's opposite."""

    negations: int
    opposites: int

    @property
    def opposed(self) -> bool:
        return (self.negations + self.opposites) % 2 == 1

    @property
    def equal(self) -> bool:
        """Nothing differs, or a negated word meets its opposite ("not enabled", "disabled")."""
        return not self.opposed and (self.opposites == 0 or self.negations > 0)


def polarity(old: Claim, new: Claim, matching: Matching) -> Polarity:
    votes = {(conditional, equal): 0.0 for conditional in (True, False) for equal in (True, False)}
    opposites = 0
    for a, b in matching.pairs:
        conditional = a.role is Role.CONDITION and b.role is Role.CONDITION
        if conditional or (a.role in _MAIN and b.role in _MAIN):
            votes[conditional, a.negated == b.negated] += a.weight
        opposites += a.sign * b.sign < 0
    negations = sum(votes[conditional, False] > votes[conditional, True] for conditional in (True, False))
    if old.need * new.need < 0 or (old.need + new.need < 0 and old.need * new.need == 0):
        negations += 1
    return Polarity(negations=negations, opposites=opposites)


def orders_agree(old: Claim, new: Claim) -> bool | None:
    """Tells whether both state the same order (True), the reverse (False), or nothing comparable (None)."""
    for a in old.orders:
        for b in new.orders:
            straight = _covers(a.earlier, b.earlier) + _covers(a.later, b.later)
            crossed = _covers(a.earlier, b.later) + _covers(a.later, b.earlier)
            if crossed > straight and _both(a.earlier, b.later, a.later, b.earlier):
                return False
            if straight > crossed and _both(a.earlier, b.earlier, a.later, b.later):
                return True
    return None


def _covers(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / min(len(a), len(b))


def _both(a: frozenset[str], b: frozenset[str], c: frozenset[str], d: frozenset[str]) -> bool:
    return _covers(a, b) >= _HALF and _covers(c, d) >= _HALF


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """An item of the old claim and the one of the new that stands in its place."""

    old: Item
    new: Item

    @property
    def in_value(self) -> bool:
        return self.old.role is Role.VALUE and self.new.role is Role.VALUE


def replaced(matching: Matching) -> list[Replaced]:
    """Pairs the leftovers that stand in the same place: quantities of one dimension, values of one sort, words between
    equal neighbours."""
    found: list[Replaced] = []
    free = list(matching.new)
    for item in matching.old:
        rivals = [other for other in free if _same_place(item, other)]
        if rivals:
            rival = max(rivals, key=lambda other: (other.role is item.role, -abs(other.place - item.place)))
            free.remove(rival)
            found.append(Replaced(old=item, new=rival))
    return found


def _same_place(a: Item, b: Item) -> bool:
    if a.quantity is not None or b.quantity is not None:
        return a.quantity is not None and b.quantity is not None and a.quantity.dimension == b.quantity.dimension
    if a.sort in TYPED or b.sort in TYPED:
        return a.sort is b.sort or (a.role is b.role and neighbours(a, b))
    return neighbours(a, b)


def neighbours(a: Item, b: Item) -> bool:
    """Tells whether the two stand in the same slot: by a word of content on one side, or by whatever is on both."""
    if a.before == b.before and a.after == b.after:
        return bool(a.before or a.after)
    return (a.before == b.before and _content(a.before)) or (a.after == b.after and _content(a.after))


def _content(key: str) -> bool:
    return bool(key) and key != "~" and not key.isupper() and key not in STOP_WORDS


def pair_conflict(old: Claim, new: Claim) -> str | None:
    """Returns the key to which the claims give different values, if they give it none in common."""
    values: dict[str, set[str]] = {}
    for key, value in old.pairs:
        values.setdefault(key, set()).add(value)
    for key, value in new.pairs:
        if key in values and value not in values[key]:
            return key
    return None


def bounds_differ(matching: Matching) -> bool:
    return any(a.bound * b.bound < 0 for a, b in matching.pairs)


def environments(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(item.key for item in items if item.sort is Sort.ENVIRONMENT)


__all__ = [
    "Order",
    "Polarity",
    "Replaced",
    "bounds_differ",
    "environments",
    "neighbours",
    "orders_agree",
    "pair_conflict",
    "polarity",
    "replaced",
]
