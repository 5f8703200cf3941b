"""What sets two claims against each other, kind by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.alike import like
from tributary.models.judges.claim import CLAUSES_A_SENTENCE, Claim, Item, Role
from tributary.models.judges.matching import Matching, weight_of
from tributary.models.judges.qualifiers import excepted
from tributary.models.judges.words import NEGATING, VERBS, concept_of, stem

_MAIN = frozenset({Role.SUBJECT, Role.PREDICATE, Role.VALUE, Role.SCOPE, Role.ASIDE})
_OBJECTS = frozenset({Role.VALUE, Role.SUBJECT})
_HALF = 0.5
_BY_WAY_OF = frozenset({"with", "via", "through", "by", "over"})
_REFUSALS = range(400, 600)
_SYMMETRIC = frozenset({"is", "are", "was", "were", "be", ""})
_DIRECTIONS = frozenset({"from", "to", "into", "onto"})
_ERROR = concept_of("error").key
_RETAIN = concept_of("retain").key
_WAIT = concept_of("wait").key
_CURE = concept_of("fix").key
_ILLS = frozenset(
    concept_of(word).key for word in "bug problem error leak crash race regression defect flaw hang deadlock".split()
)


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
    asserted = main.opposed ^ (need or _does_without(old, new, matching)) ^ _fails_without(old, new, matching)
    asserted ^= bounds_differ(matching) or _needs_more(old, new, matching)
    asserted ^= excepted(matching)
    return Polarity(
        opposed=asserted != condition.opposed and not main.mixed and not condition.mixed,
        equal=asserted == condition.opposed and not main.mixed and not condition.mixed,
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
        opposite = are_opposites(a, b) and not _same_span(a, matching)
        both_main = a.role in _MAIN and b.role in _MAIN
        if both_conditions is not conditional or not (both_conditions or both_main or opposite):
            continue
        meeting = meetings.setdefault((a.clause, b.clause), _Meeting())
        meeting.weight += a.weight
        total += a.weight
        meeting.negated = a.negated != b.negated and (both_conditions or both_main or opposite)
        meeting.opposites += opposite
        meeting.telling = meeting.telling or a.sign != 0 or a.role is b.role is Role.PREDICATE
    telling = [m for m in meetings.values() if m.telling or m.weight >= _HALF * total]
    denied = any((item.role is Role.CONDITION) is conditional for item in denials)
    return _Turn(opposed=any(m.opposed for m in telling) != denied, mixed=any(m.mixed for m in telling))


def rules_out(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells whether one says "by a full disk, not by the certificate", and the other that it was the certificate."""
    return any(
        (_is_ruled_out(a, old, matching.old) and not b.negated) or (_is_ruled_out(b, new, matching.new) and not a.negated)
        for a, b in matching.pairs
        if a.weight >= 1
    )


def _is_ruled_out(item: Item, claim: Claim, left: Sequence[Item]) -> bool:
    """Tells whether the item's clause only denies, beside a main clause that claims something else."""
    if not item.negated or item.role is not Role.SUBJECT or not item.link or any(i.clause == item.clause for i in left):
        return False
    return any(i.role in _MAIN and i.sentence == item.sentence and i.clause < item.clause and not i.negated for i in claim.items)


def are_opposites(a: Item, b: Item) -> bool:
    """Tells "accepts" from "rejects", and also from "does not support": several axes say that something does or does not."""
    return a.sign * b.sign * (1 if a.key == b.key else like(a.key).get(b.key, 0)) < 0


def are_turned(a: Item, b: Item) -> bool:
    """Tells "strips the header" from "passes the header": of two axes, but one for it and one against it."""
    return a.sign * b.sign < 0 and a.key != b.key and a.role is b.role is Role.PREDICATE


def _does_without(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "needs a reindex", "locks the table" and "goes via the proxy" against "without"; "fails without" is the same."""
    for a, b in matching.pairs:
        for needing, item, free, other in ((old, a, new, b), (new, b, old, a)):
            if item.negated or not other.negated or other.role is not Role.CONDITION or free.need > 0:
                continue
            if needing.need > 0:
                if item.role is Role.VALUE and not _denies(free) and not _warns(free, other):
                    return True
            elif (item.link in _BY_WAY_OF or (_states(item) and not needing.imperative)) and not _denies(free, besides=matching):
                return True
    return False


def _warns(claim: Claim, lacking: Item) -> bool:
    """Tells "without the flag the deploy returns at once", which says what it costs, from "without the flag it works"."""
    main = [item for item in claim.items if item.role in _MAIN and item.sentence == lacking.sentence]
    return all(lacking.clause < item.clause for item in main) and not any(item.sign > 0 for item in main)


def _states(item: Item) -> bool:
    """Tells "locks" in "it locks the table", also where no subject stands before it: "but breaks the jobs"."""
    if item.role is not Role.SUBJECT or not item.clause % CLAUSES_A_SENTENCE:
        return item.role is Role.PREDICATE
    return stem(item.surface) in VERBS and item.surface.endswith("s")


def _fails_without(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells that "requires a tag" and "without a tag it refuses" are one demand, though only one of them denies.

    "Without a tag it answers 429" is the same demand, and denies nothing by a word, so there is nothing to make good.
    """
    for a, b in matching.pairs:
        for needing, item, failing, other in ((old, a, new, b), (new, b, old, a)):
            demanded = needing.need > 0 and item.role in _OBJECTS and not item.negated and not _denies(needing)
            lacking = other.role is Role.CONDITION and other.negated and failing.need <= 0
            if demanded and lacking and _denies(failing) and not _refuses(failing):
                return True
    return False


def _denies(claim: Claim, *, besides: Matching | None = None) -> bool:
    """Tells whether the claim denies something, `besides` what both claims deny."""
    pairs = besides.pairs if besides else ()
    shared = {id(item) for a, b in pairs if a.sign == b.sign and a.negated == b.negated for item in (a, b)}
    return any(item.role in _MAIN and _is_denying(item) and id(item) not in shared for item in claim.items)


def _is_denying(item: Item) -> bool:
    """Tells whether the item denies, fails, or is what a reply that does says."""
    return item.negated or item.sign < 0 or _is_refusal(item)


def _is_refusal(item: Item) -> bool:
    """Tells "429" in "it answers 429", and "an error" in "it returns an error"."""
    status = item.quantity is not None and item.quantity.dimension == "count" and item.quantity.value in _REFUSALS
    return status or (item.role is Role.VALUE and item.key == _ERROR)


def _refuses(claim: Claim) -> bool:
    """Tells whether the claim says by the content of a reply alone that something is refused."""
    said = [item for item in claim.items if item.role in _MAIN and _is_denying(item)]
    return bool(said) and all(_is_refusal(item) and not item.negated and item.sign >= 0 for item in said)


def denials_by_word(matching: Matching) -> list[Item]:
    """Returns the leftovers such as "disabled" that deny what the other claim says plainly.

    One does when the rest of its clause is shared, and the other claim puts nothing of its own in its place; when either
    claim has one, they say the same in this respect.
    """
    found = []
    for mine, other, side in ((matching.old, matching.new, 0), (matching.new, matching.old, 1)):
        paired = [pair[side] for pair in matching.pairs]
        denied = any(pair[1 - side].negated for pair in matching.pairs)
        denying = next((i for i in mine if _denies_by_word(i, mine, paired) or (denied and _postpones(i))), None)
        if denying and weight_of(o for o in other if o.key not in NEGATING) < 1:
            found.append(denying)
    return found if len(found) == 1 else []


def _denies_by_word(item: Item, mine: Sequence[Item], paired: Sequence[Item]) -> bool:
    if not (_cures(item, paired) or (item.sign < 0 and item.key in NEGATING)) or item.role is Role.SUBJECT:
        return False
    beside = weight_of(i for i in mine if i.clause == item.clause and i.place != item.place)
    return weight_of(i for i in paired if i.clause == item.clause) > beside


def _postpones(item: Item) -> bool:
    """Tells "wait an hour before a retry", which is "no retry for an hour"."""
    return item.key == _WAIT and item.sign < 0


def _cures(item: Item, paired: Sequence[Item]) -> bool:
    """Tells "the bug is fixed in 3.4", which denies that 3.4 has the bug."""
    cured = item.key == _CURE and item.sign > 0 and item.surface.endswith("ed")
    return cured and any(other.key in _ILLS for other in paired if other.clause == item.clause)


def _same_span(a: Item, matching: Matching) -> bool:
    """Tells whether "kept 14 days" stands against "deleted after 14 days", which is no opposite."""
    if a.key != _RETAIN:
        return False
    spans = [
        any(item.quantity is not None and item.quantity.dimension == "seconds" for item in items)
        for items in ([x for x, _ in matching.pairs], matching.old, matching.new)
    ]
    return spans[0] or (spans[1] and spans[2])


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


def others_act(matching: Matching) -> bool:
    """Tells whether all that differs is who acts: "writers can resolve disputes", "only curators can"."""
    left = [[item for item in items if item.weight >= _HALF] for items in (matching.old, matching.new)]
    return all(items and all(item.role is Role.SUBJECT for item in items) for items in left)


def parts_swapped(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "the relay calls the mixer" from "the mixer calls the relay"."""
    if old.predicate != new.predicate or old.predicate in _SYMMETRIC or old.passive or new.passive:
        return False
    if any(a.sign or stem(a.surface) != stem(b.surface) for a, b in matching.pairs if a.role is Role.PREDICATE):
        return False
    whole = [(a, b) for a, b in matching.pairs if a.weight >= 1 and a.quantity is None]
    moved = [(a.role, b.role) for a, b in whole if not _BY_WAY_OF & {a.link, b.link}]
    return (Role.SUBJECT, Role.VALUE) in moved and (Role.VALUE, Role.SUBJECT) in moved


def _needs_more(old: Claim, new: Claim, matching: Matching) -> bool:
    """Tells "needs Go 1.22" from "does not compile with less than 1.22", which is the same said by its contrary."""
    for a, b in matching.pairs:
        for needing, item, failing, other in ((old, a, new, b), (new, b, old, a)):
            if needing.need > 0 and item.quantity is not None and not item.bound and other.bound < 0 and _denies(failing):
                return True
    return False


def bounds_meet(a: Item, b: Item) -> bool:
    """Tells whether a value can keep both bounds: "at least 3" and "at most 20" can stand together."""
    if a.quantity is None or b.quantity is None or a.bound * b.bound >= 0:
        return False
    least, most = (a, b) if a.bound > 0 else (b, a)
    return least.quantity is not None and most.quantity is not None and least.quantity.value <= most.quantity.value


def directions_swapped(matching: Matching) -> bool:
    """Tells "from A to B" from "from B to A"."""
    links = [(a.link, b.link) for a, b in matching.pairs if a.link in _DIRECTIONS and b.link in _DIRECTIONS]
    return any(a != b and (b, a) in links for a, b in links)


def bounds_differ(matching: Matching) -> bool:
    return any(a.bound * b.bound < 0 for a, b in matching.pairs)
