"""The parts of a claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tributary.models.judges.quantities import Quantity
from tributary.models.judges.sorts import Sort

CLAUSES_A_SENTENCE = 1000
"""By so much the numbers of one sentence's clauses, and phrases, are apart from the next one's."""

EXCEPT, ONLY, OUTSIDE = "EXCEPT", "ONLY", "outside"
"""The marks of what takes a part out and of what leaves a part only, and the word that may do either."""


class Role(Enum):
    """Where in its sentence an item stands."""

    SUBJECT = "subject"
    PREDICATE = "predicate"
    VALUE = "value"
    SCOPE = "scope"
    CONDITION = "condition"
    ASIDE = "aside"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A token of content at its place.

    `before` and `after` are the keys of its neighbours, articles left out; `link` is the preposition that opened its phrase,
    '' for a direct object. `negated` is the polarity of its clause; `bound` is +1 for "at least", -1 for "at most". `opener`
    is the preposition or mark that opened the `phrase` of that number, '' where none did.
    """

    key: str
    surface: str
    sort: Sort
    sign: int
    weight: float
    proper: bool
    role: Role
    negated: bool
    bound: int
    before: str
    after: str
    link: str
    place: int
    sentence: int
    clause: int
    quantity: Quantity | None = None
    named: bool = False
    opener: str = ""
    phrase: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """That one thing comes before another, as the keys of either."""

    earlier: frozenset[str]
    later: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A sentence, or a whole text, as the comparison needs it. `need` is +1 when it demands, -1 when it says optional."""

    items: tuple[Item, ...]
    orders: tuple[Order, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    need: int = 0
    imperative: bool = False
    predicate: str = ""
    passive: bool = False
    only: bool = False
    anyone: bool = False
    sentences: int = 1
