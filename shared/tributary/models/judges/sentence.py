"""One sentence as items with roles, found by its clauses, its predicate and its prepositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import Item, Order, Role
from tributary.models.judges.order import order_of
from tributary.models.judges.tokens import Sort, Token
from tributary.models.judges.words import ATTRIBUTES, CHOOSING, IMPERATIVES, VERBS, concept_of, stem

_ARTICLES = frozenset({"a", "an", "the", "this", "that", "its", "their"})
_PREPOSITIONS = frozenset(
    "of for on in at to from by with per into onto between against within across about over under inside behind".split()
)
_COPULAS = frozenset("is are was were be been being am has have had do does did will would could having".split())
_MODAL_MARKS = frozenset({"NEED", "OPTIONAL", "MAY", "NOT"})
PREDICATE_SIGN = "~"
"""Stands for whichever auxiliary is an item's neighbour."""
_OWN = concept_of("own").key


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    items: list[Item]
    orders: list[Order]
    need: int
    imperative: bool
    predicate: str


@dataclass(slots=True)
class _Clause:
    """A stretch of tokens of one kind; `kind` is VALUE for a main clause, whose roles are found later."""

    start: int
    end: int
    kind: Role
    negated: bool


def parse(tokens: Sequence[Token], *, place: int) -> Parsed:
    """Returns the sentence's items, in order, with places counted from `place`."""
    sequenced = order_of(tokens)
    consumed = sequenced.consumed if sequenced else frozenset()
    clauses = _clauses(tokens, consumed)
    need = _settle_polarity(tokens, clauses, consumed)
    roles: list[Role] = [Role.ASIDE] * len(tokens)
    negated: list[bool] = [False] * len(tokens)
    imperative, predicate = False, ""
    for clause in clauses:
        for at in range(clause.start, clause.end):
            roles[at] = clause.kind
            negated[at] = clause.negated
        if clause.kind is Role.VALUE:
            found = _assign(tokens, clause, roles)
            imperative = imperative or found[0]
            predicate = predicate or found[1]
    items = _items(tokens, roles, negated, place)
    orders = [sequenced.order] if sequenced else []
    return Parsed(items=items, orders=orders, need=need, imperative=imperative, predicate=predicate)


# ---- clauses


def _clauses(tokens: Sequence[Token], consumed: frozenset[int]) -> list[_Clause]:
    clauses: list[_Clause] = []
    current = _Clause(start=0, end=0, kind=Role.VALUE, negated=False)

    def close(at: int, kind: Role, *, negated: bool = False) -> None:
        nonlocal current
        current.end = at
        if current.end > current.start:
            clauses.append(current)
        current = _Clause(start=at, end=at, kind=kind, negated=negated)

    for at, token in enumerate(tokens):
        if token.sort is Sort.MARK and at not in consumed:
            if token.surface in ("IF", "UNLESS", "WITHOUT", "UNTIL"):
                close(at, Role.CONDITION, negated=token.surface != "IF")
            elif token.surface in ("BECAUSE", "ELSE", "INSTEAD"):
                close(at, Role.ASIDE, negated=token.surface == "INSTEAD")
            elif token.surface in ("BEFORE", "AFTER") and not _bare(tokens, at):
                close(at, Role.CONDITION)
        elif at in consumed and token.surface != "NOT":
            close(at, Role.CONDITION if token.surface != "THEN" else Role.VALUE)
        elif token.surface in ("but", "or") and at and tokens[at - 1].ends == ",":
            close(at, Role.ASIDE if token.surface == "or" else Role.VALUE)
        if token.ends and token.ends != "." and _breaks(token, tokens, at):
            close(at + 1, Role.VALUE)
    close(len(tokens), Role.VALUE)
    return clauses


def _bare(tokens: Sequence[Token], at: int) -> bool:
    """Tells "expires after 24 h" from "after the rollout": a measure after the mark makes it a value."""
    return at + 1 < len(tokens) and tokens[at + 1].sort is Sort.QUANTITY


def _breaks(token: Token, tokens: Sequence[Token], at: int) -> bool:
    if token.ends == ":":
        return token.sort in (Sort.WORD, Sort.STOP)
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    # Commas inside a list of names or numbers don't end the clause.
    return following is not None and not (token.sort is following.sort and token.sort is not Sort.WORD)


def _settle_polarity(tokens: Sequence[Token], clauses: list[_Clause], consumed: frozenset[int]) -> int:
    """Sets each clause's polarity from its negations, and returns what the sentence demands (+1), leaves free (-1) or neither."""
    need = 0
    for clause in clauses:
        negations = 0
        open_negation = False
        for at in range(clause.start, clause.end):
            if tokens[at].sort is not Sort.MARK or at in consumed:
                continue
            mark = tokens[at].surface
            if mark == "NOT":
                negations += 1
                open_negation = True
            elif mark == "NEED" and open_negation:  # "no approval is required"
                negations -= 1
                need = need or -1
                open_negation = False
            elif mark in ("NEED", "OPTIONAL") and clause.kind is Role.VALUE:
                need = need or (1 if mark == "NEED" else -1)
        clause.negated = clause.negated ^ bool(negations % 2)
    return need


# ---- roles inside a main clause


def _assign(tokens: Sequence[Token], clause: _Clause, roles: list[Role]) -> tuple[bool, str]:
    """Sets the roles of a main clause; returns whether it instructs, and its predicate."""
    first = _first_word(tokens, clause)
    if first is not None and _instructs(tokens, first, clause.end):
        _assign_instruction(tokens, first, clause, roles)
        return True, tokens[first].key
    pivot = _pivot(tokens, clause)
    if pivot is None:
        for at in range(clause.start, clause.end):
            roles[at] = Role.SUBJECT
        return False, ""
    _assign_subject(tokens, clause.start, pivot, roles)
    predicate, passive = _assign_predicate(tokens, pivot, clause.end, roles)
    if (predicate == _OWN and not passive) or _names_a_role(tokens, pivot, clause.end):
        _swap(roles, clause)
    return False, predicate


def _first_word(tokens: Sequence[Token], clause: _Clause) -> int | None:
    for at in range(clause.start, clause.end):
        token = tokens[at]
        if token.sort is Sort.MARK and token.surface in ("IF", "UNLESS", "MAY", "NEED", "OPTIONAL", "AFTER", "BEFORE"):
            if token.surface == "NEED" and at == clause.start:
                continue
            return None
        if token.sort not in (Sort.MARK, Sort.STOP):
            return at
        if token.surface in _ARTICLES or token.surface in _PREPOSITIONS or token.surface in _COPULAS:
            return None
    return None


def _instructs(tokens: Sequence[Token], first: int, end: int) -> bool:
    if tokens[first].surface not in IMPERATIVES or tokens[first].proper:
        return False
    for at in range(first + 1, end):
        token = tokens[at]
        if token.surface in ("that", "which", "who", "because"):
            break
        if token.surface in _COPULAS or (token.sort is Sort.MARK and token.surface in ("NEED", "OPTIONAL", "MAY")):
            return False
    following = tokens[first + 1] if first + 1 < end else None
    return not (following is not None and following.surface.endswith("s") and stem(following.surface) in VERBS)


def _assign_instruction(tokens: Sequence[Token], first: int, clause: _Clause, roles: list[Role]) -> None:
    direct = Role.VALUE if tokens[first].key in CHOOSING else Role.SUBJECT
    roles[first] = Role.PREDICATE
    role = direct
    taken = False
    for at in range(first + 1, clause.end):
        token = tokens[at]
        if token.surface in _PREPOSITIONS and taken:
            role = Role.VALUE if token.surface == "to" and direct is Role.VALUE else Role.SCOPE
        taken = taken or token.weight > 0
        roles[at] = role


def _pivot(tokens: Sequence[Token], clause: _Clause) -> int | None:
    seen = False
    for at in range(clause.start, clause.end):
        token = tokens[at]
        if token.surface in _COPULAS or (token.sort is Sort.MARK and token.surface in _MODAL_MARKS and seen):
            return at
        if seen and _is_verb(tokens, at, clause.end):
            return at
        seen = seen or token.weight > 0
    return None


def _is_verb(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tells a predicate from a noun of the same form: "restarts" in "the service restarts take 40 s" is a noun."""
    token, previous = tokens[at], tokens[at - 1]
    if token.sort is not Sort.WORD or stem(token.surface) not in VERBS or token.surface.endswith("ing"):
        return False
    if previous.surface in _ARTICLES or previous.surface in _PREPOSITIONS:
        return False
    third_person = token.surface.endswith("s") and not token.surface.endswith("ss")
    if not (third_person or token.surface.endswith("ed") or previous.surface.endswith("s")):
        return False
    for later in range(at + 1, min(at + 3, end)):
        following = tokens[later]
        if following.surface in _COPULAS or following.surface in ("NEED", "OPTIONAL", "MAY", "NOT"):
            return False
        if following.sort is not Sort.WORD:
            break
        if (
            stem(following.surface) in VERBS
            and token.surface.endswith("s")
            and not following.surface.endswith(("s", "ing", "ed"))
        ):
            return later > at + 1
        if stem(following.surface) in VERBS and following.surface.endswith("s") and later == at + 1:
            return False
    return True


def _assign_subject(tokens: Sequence[Token], start: int, pivot: int, roles: list[Role]) -> None:
    """What stands before the predicate is the subject, but a preposition at the very start opens a scope."""
    role = Role.SUBJECT
    if tokens[start].surface in _PREPOSITIONS:
        role = Role.SCOPE
    for at in range(start, pivot):
        if role is Role.SCOPE and at > start + 1 and tokens[at].surface in _ARTICLES:
            role = Role.SUBJECT
        roles[at] = role


def _assign_predicate(tokens: Sequence[Token], pivot: int, end: int, roles: list[Role]) -> tuple[str, bool]:
    """Sets the roles from the predicate on; returns the predicate's key and whether it is passive."""
    predicate = ""
    passive = False
    copula = tokens[pivot].surface in _COPULAS
    role = Role.PREDICATE
    taken = False
    for at in range(pivot, end):
        token = tokens[at]
        if role is Role.PREDICATE:
            if token.sort is Sort.WORD and not predicate and _may_be_predicate(token, tokens, at, pivot):
                predicate, passive = token.key, copula
                roles[at] = Role.PREDICATE
                continue
            if token.sort in (Sort.STOP, Sort.MARK) and token.surface not in _PREPOSITIONS and token.surface not in _ARTICLES:
                roles[at] = Role.PREDICATE
                continue
            role = Role.VALUE
        if token.surface in _PREPOSITIONS and taken:
            measured = at + 1 < end and tokens[at + 1].sort is Sort.QUANTITY and token.surface in ("of", "at", "to")
            role = Role.VALUE if measured else Role.SCOPE
        taken = taken or token.weight > 0
        roles[at] = role
    return predicate or tokens[pivot].surface, passive


def _may_be_predicate(token: Token, tokens: Sequence[Token], at: int, pivot: int) -> bool:
    if at == pivot:
        return True
    if tokens[at - 1].surface in _ARTICLES or tokens[at - 1].surface in _PREPOSITIONS:
        return False
    return stem(token.surface) in VERBS or token.surface in IMPERATIVES or token.surface.endswith("ed")


def _names_a_role(tokens: Sequence[Token], pivot: int, end: int) -> bool:
    """Tells "db-3 is the primary of X", where the value stands first."""
    if tokens[pivot].surface not in ("is", "are") or pivot + 1 >= end or tokens[pivot + 1].surface != "the":
        return False
    for at in range(pivot + 2, min(pivot + 5, end)):
        if tokens[at].surface in ("of", "for"):
            return tokens[at - 1].key in ATTRIBUTES
    return False


def _swap(roles: list[Role], clause: _Clause) -> None:
    for at in range(clause.start, clause.end):
        if roles[at] is Role.SUBJECT:
            roles[at] = Role.VALUE
        elif roles[at] in (Role.VALUE, Role.SCOPE):
            roles[at] = Role.SUBJECT


# ---- items


def _items(tokens: Sequence[Token], roles: list[Role], negated: list[bool], place: int) -> list[Item]:
    items: list[Item] = []
    bound = 0
    for at, token in enumerate(tokens):
        if token.sort is Sort.MARK and token.surface.startswith("BOUND"):
            bound = 1 if token.surface == "BOUND-UP" else -1
            continue
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
                place=place + len(items),
                quantity=token.quantity,
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
        if token.surface in _COPULAS or (token.sort is Sort.MARK and token.surface in _MODAL_MARKS):
            return PREDICATE_SIGN
        if token.surface not in _ARTICLES:
            return token.key
        at += step
    return ""
