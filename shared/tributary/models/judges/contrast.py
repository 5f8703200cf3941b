"""What sets two claims against each other, kind by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tributary.models.judges.claim import Claim, Item, Order, Role
from tributary.models.judges.matching import Matching, weight_of
from tributary.models.judges.lexicon import STOP_WORDS
from tributary.models.judges.tokens import Sort
from tributary.models.judges.words import NEGATING, concept_of

_MAIN = frozenset({Role.SUBJECT, Role.PREDICATE, Role.VALUE, Role.SCOPE, Role.ASIDE})
_HALF = 0.5
_SYMMETRIC = frozenset({"is", "are", "was", "were", "be", ""})
_DIRECTIONS = frozenset({"from", "to", "into", "onto"})
RETAIN = concept_of("retain").key
TYPED = frozenset(
    {Sort.NAME, Sort.PATH, Sort.ADDRESS, Sort.REGION, Sort.VERSION, Sort.BOOLEAN, Sort.DAY, Sort.CHANNEL, Sort.ZONE}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Flips:
    """How often polarity changes from one claim to the other: by negation, and by words that are each other's opposite."""

    negations: int = 0
    opposites: int = 0

    @property
    def opposed(self) -> bool:
        return (self.negations + self.opposites) % 2 == 1

    @property
    def equal(self) -> bool:
        """Nothing changes, or a negated word meets its opposite ("not enabled", "disabled")."""
        return not self.opposed and (self.opposites == 0 or self.negations > 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """How polarity changes in what is asserted and in what it is asserted under."""

    main: Flips
    condition: Flips

    @property
    def opposed(self) -> bool:
        return self.main.opposed != self.condition.opposed

    @property
    def equal(self) -> bool:
        return self.main.equal and self.condition.equal


def polarity(old: Claim, new: Claim, matching: Matching) -> Polarity:
    main, condition = (_flips(matching, conditional=conditional) for conditional in (False, True))
    if old.need * new.need < 0 or (old.need + new.need < 0 and old.need * new.need == 0):
        main = Flips(negations=main.negations + 1, opposites=main.opposites)
    elif _does_without(old, new, matching):
        main = Flips(negations=main.negations + 1, opposites=main.opposites)
    return Polarity(main=main, condition=condition)


def _does_without(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "needs a reindex" against "can be changed without a reindex"; "fails without one" would be the same."""
    for a, b in matching.pairs:
        for needing, item, free, other in ((old, a, new, b), (new, b, old, a)):
            demanded = needing.need > 0 and item.role is Role.VALUE and not item.negated
            if demanded and other.role is Role.CONDITION and other.negated and free.need <= 0 and not _denies(free):
                return True
    return False


def _denies(claim: Claim) -> bool:
    return any(
        item.role in _MAIN and (item.negated or (item.sign < 0 and item.key in NEGATING)) for item in claim.items
    )


def _flips(matching: Matching, *, conditional: bool) -> Flips:
    """Counts the flips among main items, or among conditions. A clause's negation counts once, by the weight of its items."""
    votes = {(telling, equal): 0.0 for telling in (True, False) for equal in (True, False)}
    opposites = 0
    for a, b in matching.pairs:
        both_conditions = a.role is Role.CONDITION and b.role is Role.CONDITION
        if both_conditions is not conditional:
            continue
        opposites += a.sign * b.sign < 0 and not _same_span(a, matching)
        if both_conditions or (a.role in _MAIN and b.role in _MAIN):
            telling = a.role is b.role is Role.PREDICATE or a.sign != 0
            votes[telling, a.negated == b.negated] += a.weight
    # A predicate's negation, or that of a word with an opposite, tells more than what else its clause speaks of.
    negated = votes[True, False] > votes[True, True] or (
        votes[True, False] == votes[True, True] and votes[False, False] > votes[False, True]
    )
    by_word = sum(
        _denied_by_word(item, mine, other, matching, conditional=conditional)
        for mine, other in ((matching.old, matching.new), (matching.new, matching.old))
        for item in mine
    )
    return Flips(negations=negated + by_word, opposites=opposites)


def _denied_by_word(
    item: Item, mine: tuple[Item, ...], other: tuple[Item, ...], matching: Matching, *, conditional: bool
) -> bool:
    """Tells whether a leftover such as "disabled" denies what the other claim says plainly.

    It does when the rest of its clause is shared, and the other claim puts nothing of its own in its place.
    """
    if item.sign >= 0 or item.key not in NEGATING or item.role is Role.SUBJECT or (item.role is Role.CONDITION) != conditional:
        return False
    if weight_of([o for o in other if o.key not in NEGATING]) >= 1:
        return False
    beside = weight_of([i for i in mine if i.clause == item.clause and i is not item])
    shared = weight_of([i for pair in matching.pairs for i in pair if i.clause == item.clause and i.place != item.place])
    return shared > beside


def _same_span(a: Item, matching: Matching) -> bool:
    """Tells whether "kept 14 days" stands against "deleted after 14 days", which is no opposite."""
    return a.key == RETAIN and any(
        x.quantity is not None and x.quantity.dimension == "seconds" for x, _ in matching.pairs
    )


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
    if a.role is b.role is Role.VALUE and a.link and a.link == b.link == a.before == b.before:
        return True
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


def parts_swapped(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "the relay calls the mixer" from "the mixer calls the relay"."""
    if old.predicate != new.predicate or old.predicate in _SYMMETRIC or old.passive or new.passive:
        return False
    if any(a.sign * b.sign < 0 for a, b in matching.pairs if a.role is Role.PREDICATE):
        return False
    moved = [(a.role, b.role) for a, b in matching.pairs if a.weight >= 1 and a.quantity is None]
    return (Role.SUBJECT, Role.VALUE) in moved and (Role.VALUE, Role.SUBJECT) in moved


def directions_swapped(matching: Matching) -> bool:
    """Tells "from A to B" from "from B to A"."""
    links = [(a.link, b.link) for a, b in matching.pairs if a.link in _DIRECTIONS and b.link in _DIRECTIONS]
    return any(a != b and (b, a) in links for a, b in links)


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
