"""Which of two things comes first, in whichever words it was said.

"A before B", "B only after A", "do not B until A", "never B without A-ing", "first A, then B" and "once A, B" are one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import Order
from tributary.models.judges.sorts import Sort, Token

_ENDS = frozenset({"IF", "UNLESS", "BECAUSE", "ELSE", "INSTEAD", "EXCEPT"})
_LATER = frozenset({"second", "last", "next"})
_LEAST_WEIGHT = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Sequenced:
    """The order a sentence states. `consumed` are the places of marks whose meaning it holds, negations among them."""

    order: Order
    consumed: frozenset[int]


def order_of(tokens: Sequence[Token]) -> Sequenced | None:
    """Returns the first order that the sentence states, or None."""
    for at, token in enumerate(tokens):
        if token.sort is not Sort.MARK:
            continue
        found = _RULES[token.surface](tokens, at) if token.surface in _RULES else None
        if found and found.order.earlier and found.order.later:
            return found
    return None


def _keys(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(t.key for t in tokens if t.weight >= _LEAST_WEIGHT and t.sort not in (Sort.MARK, Sort.STOP))


def _until_end(tokens: Sequence[Token], start: int) -> int:
    """Returns the end of the clause that begins at `start`: past a comma, or before a mark that opens another."""
    for at in range(start, len(tokens)):
        if tokens[at].sort is Sort.MARK and (tokens[at].surface in _ENDS or tokens[at].surface == "BEFORE") and at > start:
            return at
        if tokens[at].ends:
            return at + 1
    return len(tokens)


def _from_start(tokens: Sequence[Token], end: int) -> int:
    """Returns the start of the clause that ends before `end`."""
    for at in range(end - 1, -1, -1):
        if tokens[at].sort is Sort.MARK and tokens[at].surface in _ENDS:
            return at + 1
        if at < end - 1 and tokens[at].ends == ".":
            return at + 1
    return 0


def _halves(tokens: Sequence[Token], at: int) -> tuple[Sequence[Token], Sequence[Token], int]:
    """Returns what the mark at `at` attaches to, what it introduces, and where the former starts."""
    end = _until_end(tokens, at + 1)
    introduced = tokens[at + 1 : end]
    start = _from_start(tokens, at)
    main = tokens[start:at]
    if not _keys(main):
        start = end
        main = tokens[end : _until_end(tokens, end)]
    return main, introduced, start


def _negation(tokens: Sequence[Token], places: range) -> int | None:
    return next((at for at in places if tokens[at].sort is Sort.MARK and tokens[at].surface == "NOT"), None)


def _measures(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].sort in (Sort.QUANTITY, Sort.DAY, Sort.VERSION)


def _before(tokens: Sequence[Token], at: int) -> Sequenced | None:
    if _measures(tokens, at):
        return None
    main, introduced, start = _halves(tokens, at)
    negation = _negation(tokens, range(start, at))
    earlier, later = _keys(main), _keys(introduced)
    if negation is not None and not any(t.surface == "UNTIL" for t in main):
        return Sequenced(order=Order(earlier=later, later=earlier), consumed=frozenset({at, negation}))
    return Sequenced(order=Order(earlier=earlier, later=later), consumed=frozenset({at}))


def _after(tokens: Sequence[Token], at: int) -> Sequenced | None:
    if _measures(tokens, at):
        return None
    main, introduced, _ = _halves(tokens, at)
    return Sequenced(order=Order(earlier=_keys(introduced), later=_keys(main)), consumed=frozenset({at}))


def _until(tokens: Sequence[Token], at: int) -> Sequenced | None:
    """Reads "do not B until A". "Wait until A before B" is left to the rule for before."""
    main, introduced, start = _halves(tokens, at)
    negation = _negation(tokens, range(start, at))
    if negation is None:
        return None
    return Sequenced(order=Order(earlier=_keys(introduced), later=_keys(main)), consumed=frozenset({at, negation}))


def _without(tokens: Sequence[Token], at: int) -> Sequenced | None:
    """Reads "never B without A-ing"."""
    if at + 1 >= len(tokens) or not tokens[at + 1].surface.endswith("ing"):
        return None
    main, introduced, start = _halves(tokens, at)
    negation = _negation(tokens, range(start, at))
    if negation is None:
        return None
    return Sequenced(order=Order(earlier=_keys(introduced), later=_keys(main)), consumed=frozenset({at, negation}))


def _then(tokens: Sequence[Token], at: int) -> Sequenced | None:
    """Reads "A, then B" and "A and B afterwards"; a "then" that follows a condition orders nothing."""
    if any(t.sort is Sort.MARK and t.surface in ("IF", "UNLESS") for t in tokens[:at]):
        return None
    later = tokens[at + 1 : _until_end(tokens, at + 1)]
    earlier = tokens[:at]
    if not _keys(later):
        joint = next((i for i in range(at - 1, 0, -1) if tokens[i].surface == "and" or tokens[i].ends == ","), None)
        if joint is None:
            return None
        earlier, later = tokens[: joint + 1], tokens[joint + 1 : at]
    return Sequenced(order=Order(earlier=_keys(earlier), later=_keys(later)), consumed=frozenset({at}))


def _first(tokens: Sequence[Token], at: int) -> Sequenced | None:
    """Reads "A first and B second"."""
    end = next((i for i in range(at + 1, len(tokens)) if tokens[i].surface in _LATER), None)
    joint = next((i for i in range(at + 1, end or 0) if tokens[i].surface == "and" or tokens[i - 1].ends == ","), None)
    if end is None or joint is None:
        return None
    return Sequenced(order=Order(earlier=_keys(tokens[:at]), later=_keys(tokens[joint:end])), consumed=frozenset({at}))


_RULES = {"BEFORE": _before, "AFTER": _after, "UNTIL": _until, "WITHOUT": _without, "THEN": _then, "FIRST": _first}
