"""What sets two claims against each other, kind by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import Claim, Item, Role
from tributary.models.judges.matching import Matching, weight_of
from tributary.models.judges.words import NEGATING, concept_of, stem

_MAIN = frozenset({Role.SUBJECT, Role.PREDICATE, Role.VALUE, Role.SCOPE, Role.ASIDE})
_HALF = 0.5
_SYMMETRIC = frozenset({"is", "are", "was", "were", "be", ""})
_DIRECTIONS = frozenset({"from", "to", "into", "onto"})
_RETAIN = concept_of("retain").key


@dataclass(frozen=True, kw_only=True, slots=True)
class Polarity:
    """How the polarity of one claim stands to that of the other."""

    opposed: bool
    equal: bool
    """Both may be False, when so much differs that nothing follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    """Whether polarity turns in one part of the claims; `mixed` when several words meet their opposites."""

    opposed: bool
    mixed: bool


def polarity(old: Claim, new: Claim, matching: Matching, denials: Sequence[Item]) -> Polarity:
    """Compares what is asserted, and what it is asserted under; opposed in one of them is opposed, in both it is neither."""
    main, condition = (_turn(matching, denials, conditional=conditional) for conditional in (False, True))
    need = old.need * new.need < 0 or (old.need + new.need < 0 and old.need * new.need == 0)
    asserted = main.opposed ^ (need or _does_without(old, new, matching))
    return Polarity(
        opposed=asserted != condition.opposed and not main.mixed and not condition.mixed,
        equal=not (asserted or condition.opposed or main.mixed or condition.mixed),
    )


@dataclass(slots=True)
class _Meeting:
    """What a clause of one claim and a clause of the other share."""

    weight: float = 0.0
    negated: bool = False
    opposites: int = 0
    telling: bool = False

    @property
    def opposed(self) -> bool:
        """A negation or an opposite turns the meaning; both together ("not enabled", "disabled") don't."""
        return self.negated != (self.opposites % 2 == 1)

    @property
    def mixed(self) -> bool:
        return self.opposites > 1 and not self.negated


def _turn(matching: Matching, denials: Sequence[Item], *, conditional: bool) -> _Turn:
    """Looks at each pair of clauses that meet. A shared predicate or a word with an opposite tells."""
    meetings: dict[tuple[int, int], _Meeting] = {}
    total = 0.0
    for a, b in matching.pairs:
        both_conditions = a.role is Role.CONDITION and b.role is Role.CONDITION
        opposite = a.sign * b.sign < 0 and not _same_span(a, matching)
        both_main = a.role in _MAIN and b.role in _MAIN
        if both_conditions is not conditional or not (both_conditions or both_main or opposite):
            continue
        meeting = meetings.setdefault((a.clause, b.clause), _Meeting())
        meeting.weight += a.weight
        total += a.weight
        meeting.negated = a.negated != b.negated and (both_conditions or both_main)
        meeting.opposites += opposite
        meeting.telling = meeting.telling or a.sign != 0 or a.role is b.role is Role.PREDICATE
    telling = [m for m in meetings.values() if m.telling or m.weight >= _HALF * total]
    denied = any((item.role is Role.CONDITION) is conditional for item in denials)
    return _Turn(opposed=any(m.opposed for m in telling) != denied, mixed=any(m.mixed for m in telling))


def _does_without(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "needs a reindex" against "can be changed without a reindex"; "fails without one" would be the same."""
    for a, b in matching.pairs:
        for needing, item, free, other in ((old, a, new, b), (new, b, old, a)):
            demanded = needing.need > 0 and item.role is Role.VALUE and not item.negated
            if demanded and other.role is Role.CONDITION and other.negated and free.need <= 0 and not _denies(free):
                return True
    return False


def _denies(claim: Claim) -> bool:
    return any(item.role in _MAIN and (item.negated or item.sign < 0) for item in claim.items)


def denials_by_word(matching: Matching) -> list[Item]:
    """Returns the leftovers such as "disabled" that deny what the other claim says plainly.

    One does when the rest of its clause is shared, and the other claim puts nothing of its own in its place; when either
    claim has one, they say the same in this respect.
    """
    found = []
    for mine, other, side in ((matching.old, matching.new, 0), (matching.new, matching.old, 1)):
        paired = [pair[side] for pair in matching.pairs]
        denying = next((item for item in mine if _denies_by_word(item, mine, paired)), None)
        if denying and weight_of(o for o in other if o.key not in NEGATING) < 1:
            found.append(denying)
    return found if len(found) == 1 else []


def _denies_by_word(item: Item, mine: Sequence[Item], paired: Sequence[Item]) -> bool:
    if item.sign >= 0 or item.key not in NEGATING or item.role is Role.SUBJECT:
        return False
    beside = weight_of(i for i in mine if i.clause == item.clause and i.place != item.place)
    return weight_of(i for i in paired if i.clause == item.clause) > beside


def _same_span(a: Item, matching: Matching) -> bool:
    """Tells whether "kept 14 days" stands against "deleted after 14 days", which is no opposite."""
    return a.key == _RETAIN and any(x.quantity is not None and x.quantity.dimension == "seconds" for x, _ in matching.pairs)


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
    if any(a.sign or stem(a.surface) != stem(b.surface) for a, b in matching.pairs if a.role is Role.PREDICATE):
        return False
    moved = [(a.role, b.role) for a, b in matching.pairs if a.weight >= 1 and a.quantity is None]
    return (Role.SUBJECT, Role.VALUE) in moved and (Role.VALUE, Role.SUBJECT) in moved


def directions_swapped(matching: Matching) -> bool:
    """Tells "from A to B" from "from B to A"."""
    links = [(a.link, b.link) for a, b in matching.pairs if a.link in _DIRECTIONS and b.link in _DIRECTIONS]
    return any(a != b and (b, a) in links for a, b in links)


def bounds_differ(matching: Matching) -> bool:
    return any(a.bound * b.bound < 0 for a, b in matching.pairs)
