"""What each of two lessons says that the other does not: where both say something of their own, they are two.

A paraphrase leaves words over, too: another verb, an adverb for an adjective, a filler. It leaves few, and they stand in
different parts of the sentence. Another occasion, symptom or cure leaves words of content on both sides, in the same part, or
a whole clause on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tributary.models.judges.claim import Item, Role
from tributary.models.judges.matching import Matching
from tributary.models.judges.slots import TYPED
from tributary.models.judges.words import NEGATING, VERBS, concept_of, stem

MOST_APART = 1.5
"""Weight from which what is left on both sides is no rewording, wherever it stands. Asides count in full here."""
_WHOLE = 1.0
"""Weight of one word of content."""
_PARTS = (Role.SUBJECT, Role.VALUE, Role.SCOPE, Role.CONDITION, Role.ASIDE)
_ASSERTED = frozenset({Role.SUBJECT, Role.PREDICATE, Role.VALUE, Role.SCOPE})
_DEGREES = frozenset(
    concept_of(word).key
    for word in "more most less least small smaller smallest large larger largest big high low few many much part".split()
)
"""What a comparison is worded with: "too small for", "needs more than"."""


def say_apart(matching: Matching, old: Sequence[Item], new: Sequence[Item]) -> tuple[Item, Item] | None:
    """Returns a word of what the one says and a word of what the other says instead, or None.

    `old` and `new` are the leftovers of either side that the other lesson's situation does not speak of either.
    """
    mine, others = _own(old, new, matching, 0), _own(new, old, matching, 1)
    for a, b in (
        _over_all(mine, others),
        _in_one_part(mine, others),
        _beside_kin_predicates(matching, mine, others),
        _denied_by_one(mine, others),
        (_clauses_of_its_own(mine, matching, 0), _clauses_of_its_own(others, matching, 1)),
    ):
        if a and b:
            return _heaviest(a), _heaviest(b)
    return None


def _own(items: Sequence[Item], others: Sequence[Item], matching: Matching, side: int) -> list[Item]:
    """Returns what stands over on one side, with the words that met one that may only stand for them, and whose phrase did not.

    So "daylight saving switch" is not "schema change", though either may be a migration.
    """
    spelt = {item.surface for item in (matching.new, matching.old)[side]}  # "ClickHouse" is a name, "clickhouse" a word
    own = [item for item in items if item.key not in _DEGREES and item.surface not in spelt]
    strange = {
        (at, i.phrase)
        for at, over in ((side, items), (1 - side, others))
        for i in over
        if i.weight >= _WHOLE and i.role in (Role.SCOPE, Role.CONDITION) and stem(i.surface) not in VERBS
    }
    loose = [p for p in matching.pairs if _is_loose(*p) and any((at, p[at].phrase) in strange for at in (0, 1))]
    return [*own, *(pair[side] for pair in loose)]


def _over_all(mine: Sequence[Item], others: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    return (mine, others) if min(_weight(mine), _weight(others)) >= MOST_APART else ((), ())


def _in_one_part(mine: Sequence[Item], others: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    """Finds "the batch" and "the queue", both of which are what something is done to."""
    for part in _PARTS:
        a, b = ([item for item in items if item.role is part] for items in (mine, others))
        if a and b and max(_weight(a), _weight(b)) >= _WHOLE:
            return a, b
    a, b = ([item for item in items if _orders(item)] for items in (mine, others))
    return a, b


def _orders(item: Item) -> bool:
    """Tells the "warm" of "warm the cache", which is not "clear the cache", from the "returns" of "the API returns it"."""
    return item.role is Role.PREDICATE and item.weight >= _WHOLE and item.before in ("", "THEN")


def _beside_kin_predicates(
    matching: Matching, mine: Sequence[Item], others: Sequence[Item]
) -> tuple[Sequence[Item], Sequence[Item]]:
    """Finds "writes" and "connections" beside "refuses" and "drops", which mean the same only of the same thing."""
    for a, b in matching.pairs:
        if not _is_loose(a, b) or not ({a.key, b.key} & NEGATING or stem(a.surface) in VERBS or stem(b.surface) in VERBS):
            continue
        left = [[i for i in items if i.clause == at.clause and _counts(i)] for items, at in ((mine, a), (others, b))]
        if all(left) and max(map(_weight, left)) >= _WHOLE:
            return left[0], left[1]
    return (), ()


def _counts(item: Item) -> bool:
    """Tells "writes", also where it is light, from the "means" of "it means that"."""
    return item.role is not Role.PREDICATE or item.weight >= _WHOLE


def _denied_by_one(mine: Sequence[Item], others: Sequence[Item]) -> tuple[Sequence[Item], Sequence[Item]]:
    """Finds "logs" and "session" in "logs nothing" and "forgets its session"."""
    for negated in (False, True):
        a = [item for item in mine if item.negated is negated and item.role in _ASSERTED]
        b = [item for item in others if item.negated is not negated and item.role in _ASSERTED]
        if min(_weight(a), _weight(b)) >= _WHOLE:
            return a, b
    return (), ()


def _clauses_of_its_own(own: Sequence[Item], matching: Matching, side: int) -> Sequence[Item]:
    """Returns the items of clauses of which the other side says nothing by an equal word."""
    shared = {pair[side].clause for pair in matching.pairs if not _is_loose(*pair)}
    clauses = {item.clause for item in own} - shared
    found = [item for item in own if item.clause in clauses]
    return found if _weight(found) >= _WHOLE else ()


def _is_loose(a: Item, b: Item) -> bool:
    """Tells whether the two met though they only may stand for one another."""
    return a.key != b.key and a.quantity is None and not (a.sort in TYPED or b.sort in TYPED)


def _weight(items: Iterable[Item]) -> float:
    return sum(item.weight for item in items)


def _heaviest(items: Sequence[Item]) -> Item:
    return max(items, key=lambda item: item.weight)
