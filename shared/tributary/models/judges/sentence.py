"""One sentence as items with roles, found by its clauses, its predicate and its prepositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tributary.models.judges.claim import Item, Order, Role
from tributary.models.judges.order import order_of
from tributary.models.judges.tokens import Sort, Token
from tributary.models.judges.words import ATTRIBUTES, CHOOSING, FUNCTIONAL, IMPERATIVES, NOUNISH, VERBS, concept_of, stem

_ARTICLES = frozenset({"a", "an", "the", "this", "that", "its", "their"})
_PREPOSITIONS = frozenset(
    "of for on in at to from by with per into onto between against within across about over under inside behind as through".split()
)
_COPULAS = frozenset("is are was were be been being am has have had do does did will would could having".split())
_PARTICLES = frozenset({"off", "out", "up", "down"})
_PAST = frozenset(
    "made took ran broke went sent lost kept gave grew fell rose threw began led held built froze chose wrote cut".split()
)
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
    passive: bool
    agent: bool


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
    clause_of: list[int] = [0] * len(tokens)
    found = _Found()
    for number, clause in enumerate(clauses):
        for at in range(clause.start, clause.end):
            clause_of[at] = place * 100 + number
            roles[at] = clause.kind
            negated[at] = clause.negated
        if clause.kind is Role.VALUE:
            assigned = _assign(tokens, clause, roles)
            found = found if found.predicate else assigned
    items = _items(tokens, roles, negated, clause_of, place)
    orders = [sequenced.order] if sequenced else []
    return Parsed(
        items=items,
        orders=orders,
        need=need,
        imperative=found.imperative,
        predicate=found.predicate,
        passive=found.passive,
        agent=found.agent,
    )


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
                close(at, Role.CONDITION, negated=token.surface in ("UNLESS", "WITHOUT"))
            elif token.surface in ("BECAUSE", "ELSE", "INSTEAD"):
                close(at, Role.ASIDE, negated=token.surface == "INSTEAD")
            elif token.surface in ("BEFORE", "AFTER") and not _bare(tokens, at):
                close(at, Role.CONDITION)
        elif at in consumed and token.surface != "NOT":
            close(at, Role.CONDITION if token.surface != "THEN" else Role.VALUE)
        elif current.kind is Role.CONDITION and _resumes(tokens, current, clauses, at):
            close(at, Role.VALUE)
        elif token.surface == "and" and _negates_only_later(tokens, current.start, at):
            close(at, current.kind, negated=current.negated)
        elif token.surface in ("but", "or") and at and tokens[at - 1].ends == ",":
            close(at, Role.ASIDE if token.surface == "or" else Role.VALUE)
        if token.ends and token.ends != "." and _breaks(token, tokens, at):
            close(at + 1, Role.VALUE)
    close(len(tokens), Role.VALUE)
    return clauses


def _negates_only_later(tokens: Sequence[Token], start: int, at: int) -> bool:
    """Tells "A and not B", whose parts differ in polarity, from "not A and B"."""
    if any(token.sort is Sort.MARK and token.surface == "NOT" for token in tokens[start:at]):
        return False
    for token in tokens[at + 1 :]:
        if token.sort is Sort.MARK:
            return token.surface == "NOT"
        if token.ends:
            return False
    return False


def _resumes(tokens: Sequence[Token], current: _Clause, clauses: list[_Clause], at: int) -> bool:
    """Tells the predicate of "load tests before a release | are optional", whose subject stands before the condition."""
    token = tokens[at]
    if not (token.surface in _COPULAS or (token.sort is Sort.MARK and token.surface in ("NEED", "OPTIONAL", "MAY"))):
        return False
    if tokens[current.start].surface not in ("BEFORE", "AFTER") or not clauses or at < current.start + 2:
        return False
    main = clauses[-1]
    first = _first_word(tokens, main)
    pivot = _pivot(tokens, main)
    predicated = pivot is not None and stem(tokens[pivot].surface) not in NOUNISH
    return not predicated and not (first is not None and _instructs(tokens, first, main.end))


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    predicate: str = ""
    imperative: bool = False
    passive: bool = False
    agent: bool = False


def _assign(tokens: Sequence[Token], clause: _Clause, roles: list[Role]) -> _Found:
    """Sets the roles of a main clause; returns its predicate."""
    first = _first_word(tokens, clause)
    if first is not None and _instructs(tokens, first, clause.end):
        _assign_instruction(tokens, first, clause, roles)
        return _Found(predicate=tokens[first].key, imperative=True)
    pivot = _pivot(tokens, clause)
    if pivot is None:
        for at in range(clause.start, clause.end):
            roles[at] = Role.SUBJECT
        return _Found()
    _assign_subject(tokens, clause.start, pivot, roles)
    predicate, passive = _assign_predicate(tokens, pivot, clause.end, roles)
    if (predicate == _OWN and not passive) or _names_a_role(tokens, pivot, clause.end):
        _swap(roles, clause.start, clause.end)
    return _Found(predicate=predicate, passive=passive, agent=passive and _has_agent(tokens, pivot, clause.end))


def _first_word(tokens: Sequence[Token], clause: _Clause) -> int | None:
    for at in range(clause.start, clause.end):
        token = tokens[at]
        if token.sort is Sort.MARK and token.surface in ("IF", "UNLESS", "MAY", "NEED", "OPTIONAL", "AFTER", "BEFORE"):
            if token.surface == "NEED" and at == clause.start:
                continue
            return None
        if token.sort not in (Sort.MARK, Sort.STOP):
            return at
        if token.surface in _PREPOSITIONS and at == clause.start:
            return _after_opening(tokens, clause)
        if token.surface in _ARTICLES or token.surface in _PREPOSITIONS or token.surface in _COPULAS:
            return None
    return None


def _after_opening(tokens: Sequence[Token], clause: _Clause) -> int | None:
    """Returns the place of the instruction in "for questions about X ask Y"."""
    for at in range(clause.start + 2, clause.end - 1):
        before = tokens[at - 1]
        free = before.surface not in _ARTICLES and before.surface not in _PREPOSITIONS
        if free and tokens[at].surface in IMPERATIVES and before.surface.endswith("s"):
            return at
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
    return next((at for at in range(clause.start + 1, clause.end) if _looks_like_verb(tokens, at, clause.end)), None)


def _looks_like_verb(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Guesses an unknown predicate by its ending and by what follows it: "files arrive in", "the parser chokes on"."""
    token, previous = tokens[at], tokens[at - 1]
    if token.sort is not Sort.WORD or token.proper or previous.sort is Sort.STOP or previous.ends or token.ends:
        return False
    third_person = token.surface.endswith("s") and not token.surface.endswith(("ss", "us", "is"))
    if not third_person and not previous.surface.endswith("s"):
        return False
    following = tokens[at + 1] if at + 1 < end else None
    return following is not None and (
        following.surface in _ARTICLES
        or following.surface in _PREPOSITIONS - {"of"}
        or following.surface in _PARTICLES
        or following.sort is Sort.QUANTITY
    )


def _is_verb(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tells a predicate from a noun of the same form: "restarts" in "the service restarts take 40 s" is a noun."""
    token, previous = tokens[at], tokens[at - 1]
    if token.sort is not Sort.WORD or stem(token.surface) not in VERBS or token.surface.endswith("ing"):
        return False
    if previous.surface in _ARTICLES or previous.surface in _PREPOSITIONS:
        return False
    third_person = token.surface.endswith("s") and not token.surface.endswith("ss")
    past = token.surface.endswith("ed") or token.surface in _PAST
    if not (third_person or past or previous.surface.endswith("s")):
        return False
    following = [other for other in tokens[at + 1 : min(at + 3, end)]]
    if any(other.surface in _COPULAS or other.surface in _MODAL_MARKS for other in following):
        return False
    if stem(token.surface) not in NOUNISH or not following or following[0].sort is not Sort.WORD:
        return True
    # A noun of the same form stands right before the real predicate.
    return stem(following[0].surface) not in VERBS or following[0].surface.endswith(("ing", "ed"))


def _assign_subject(tokens: Sequence[Token], start: int, pivot: int, roles: list[Role]) -> None:
    """What stands before the predicate is the subject, but a preposition at the very start opens a scope."""
    role = Role.SUBJECT
    if tokens[start].surface in _PREPOSITIONS:
        role = Role.CONDITION
    for at in range(start, pivot):
        if role is Role.CONDITION and at > start + 1 and tokens[at].surface in _ARTICLES:
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
            if (
                token.sort in (Sort.STOP, Sort.MARK)
                and token.surface not in _PREPOSITIONS
                and token.surface not in _ARTICLES
            ):
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


def _has_agent(tokens: Sequence[Token], pivot: int, end: int) -> bool:
    """Tells whether a passive names its agent; "owned by" and the like have none, since what follows is the value."""
    by = next((at for at in range(pivot + 1, min(pivot + 4, end)) if tokens[at].surface == "by"), None)
    return by is not None and tokens[by - 1].key not in FUNCTIONAL


def _names_a_role(tokens: Sequence[Token], pivot: int, end: int) -> bool:
    """Tells "db-3 is the primary of X", where the value stands first."""
    if tokens[pivot].surface not in ("is", "are") or pivot + 1 >= end or tokens[pivot + 1].surface != "the":
        return False
    for at in range(pivot + 2, min(pivot + 5, end)):
        if tokens[at].surface in ("of", "for"):
            return tokens[at - 1].key in ATTRIBUTES
    return False


def _swap(roles: list[Role], start: int, end: int) -> None:
    for at in range(start, end):
        if roles[at] is Role.SUBJECT:
            roles[at] = Role.VALUE
        elif roles[at] in (Role.VALUE, Role.SCOPE):
            roles[at] = Role.SUBJECT


# ---- items


def _items(
    tokens: Sequence[Token], roles: list[Role], negated: list[bool], clause_of: list[int], place: int
) -> list[Item]:
    items: list[Item] = []
    bound = 0
    link = ""
    for at, token in enumerate(tokens):
        if token.sort is Sort.MARK and token.surface.startswith("BOUND"):
            bound = 1 if token.surface == "BOUND-UP" else -1
            if items and items[-1].quantity and (token.ends or at + 1 == len(tokens)):
                items[-1] = replace(items[-1], bound=bound)
            continue
        if token.surface in _PREPOSITIONS:
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
                clause=clause_of[at],
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
