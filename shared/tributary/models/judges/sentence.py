"""One sentence as items with roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tributary.models.judges.claim import CLAUSES_A_SENTENCE, Item, Order, Role
from tributary.models.judges.clauses import clauses_of, settle_polarity
from tributary.models.judges.grammar import ARTICLES, COPULAS, MODAL_MARKS, PREDICATE_SIGN, PREPOSITIONS
from tributary.models.judges.openers import openers_of
from tributary.models.judges.order import order_of
from tributary.models.judges.roles import Predicate, assign
from tributary.models.judges.sorts import Sort, Token, as_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    items: list[Item]
    orders: list[Order]
    need: int
    imperative: bool
    predicate: str
    passive: bool


def parse(tokens: Sequence[Token], *, place: int, sentence: int) -> Parsed:
    """Returns the items of the sentence of that number, in order, with places counted from `place`."""
    sequenced = order_of(tokens)
    consumed = sequenced.consumed if sequenced else frozenset()
    clauses = clauses_of(tokens, consumed)
    need = settle_polarity(tokens, clauses, consumed)
    roles: list[Role] = [Role.ASIDE] * len(tokens)
    negated: list[bool] = [False] * len(tokens)
    clause_of: list[int] = [0] * len(tokens)
    found = Predicate()
    named: set[int] = set()
    for number, clause in enumerate(clauses):
        for at in range(clause.start, clause.end):
            clause_of[at] = sentence * CLAUSES_A_SENTENCE + number
            roles[at] = clause.kind
            negated[at] = clause.negated
        if clause.kind is Role.VALUE:
            assigned = assign(tokens, clause, roles)
            for at in range(clause.start, clause.end):  # "in INC-4, no alert fired" denies the alert, not the incident
                negated[at] = negated[at] and roles[at] is not Role.CONDITION
            found = found if found.predicate else assigned
            named |= assigned.named
    tokens = [as_name(token) if at in named else token for at, token in enumerate(tokens)]
    items = _items(tokens, roles, negated, clause_of, place, sentence)
    orders = [sequenced.order] if sequenced else []
    return Parsed(
        items=items,
        orders=orders,
        need=need,
        imperative=found.imperative,
        predicate=found.predicate,
        passive=found.passive,
    )


def _items(
    tokens: Sequence[Token], roles: list[Role], negated: list[bool], clause_of: list[int], place: int, number: int
) -> list[Item]:
    items: list[Item] = []
    bound = 0
    link = ""
    openers = openers_of(tokens, roles, clause_of)
    for at, token in enumerate(tokens):
        if token.sort is Sort.MARK and token.surface.startswith("BOUND"):
            bound = 1 if token.surface == "BOUND-UP" else -1
            if items and items[-1].quantity and (token.ends or at + 1 == len(tokens)):
                items[-1] = replace(items[-1], bound=bound)
            continue
        if token.surface in PREPOSITIONS:
            link = token.surface
        elif roles[at] is Role.PREDICATE or (at and (roles[at] is not roles[at - 1] or tokens[at - 1].ends)):
            link = ""
        if token.weight <= 0:
            continue
        items.append(
            Item(
                key=token.key,
                surface=token.surface,
                sort=token.sort,
                sign=token.sign,
                weight=token.weight,
                proper=token.proper,
                role=roles[at],
                negated=negated[at],
                bound=bound if token.quantity or token.sort is Sort.VERSION else 0,
                before=_neighbour(tokens, at, -1),
                after=_neighbour(tokens, at, 1),
                link=link,
                place=place + len(items),
                sentence=number,
                clause=clause_of[at],
                quantity=token.quantity,
                named=token.named,
                opener=openers[at][0],
                phrase=number * CLAUSES_A_SENTENCE + openers[at][1],
            )
        )
        bound = 0
    return items


def _neighbour(tokens: Sequence[Token], at: int, step: int) -> str:
    """Returns the key of the next token that is no article, or '' at the sentence's edge and across punctuation."""
    if step > 0 and tokens[at].ends:
        return ""
    at += step
    while 0 <= at < len(tokens):
        if step < 0 and tokens[at].ends in (",", "."):
            return ""
        token = tokens[at]
        if token.surface in COPULAS or (token.sort is Sort.MARK and token.surface in MODAL_MARKS):
            return PREDICATE_SIGN
        if token.surface not in ARTICLES:
            return token.surface if token.sort is Sort.MARK else token.key
        at += step
    return ""
