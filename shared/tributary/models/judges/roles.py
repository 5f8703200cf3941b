"""The roles inside a main clause: subject, predicate, value, scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import Role
from tributary.models.judges.clauses import Clause
from tributary.models.judges.grammar import ARTICLES, COPULAS, PARTICIPLES, PREPOSITIONS
from tributary.models.judges.predicate import first_word, instructs, pivot_of
from tributary.models.judges.sorts import Sort, Token
from tributary.models.judges.words import ABBREVIATED, ATTRIBUTES, CHOOSING, IMPERATIVES, VERBS, concept_of, stem

_COUNTS = 0.5
_NOMINAL = ("ing", "tion", "sion", "sure")
_OWN = concept_of("own").key


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    """A clause's predicate; `named` are the places of subject words that are taken as names."""

    predicate: str = ""
    imperative: bool = False
    passive: bool = False
    named: frozenset[int] = frozenset()


def assign(tokens: Sequence[Token], clause: Clause, roles: list[Role]) -> Predicate:
    """Sets the roles of a main clause; returns its predicate."""
    first = first_word(tokens, clause.start, clause.end)
    if first is not None and instructs(tokens, first, clause.end):
        _assign_instruction(tokens, first, clause, roles)
        return Predicate(predicate=tokens[first].key, imperative=True)
    pivot = pivot_of(tokens, clause.start, clause.end)
    if pivot is None:
        for at in range(clause.start, clause.end):
            roles[at] = Role.SUBJECT
        return Predicate()
    _assign_subject(tokens, clause.start, pivot, roles)
    predicate, passive = _assign_predicate(tokens, pivot, clause.end, roles)
    if (predicate == _OWN and not passive) or _names_a_role(tokens, pivot, clause.end):
        _swap(roles, clause.start, clause.end)
    return Predicate(predicate=predicate, passive=passive, named=_named(tokens, clause.start, pivot))


def _named(tokens: Sequence[Token], start: int, pivot: int) -> frozenset[int]:
    """Returns the places of words that name the subject, whatever they mean elsewhere.

    "Store is owned by team falcon" and "home is owned by team falcon" speak of two things. A bare word in the singular names,
    and one right before the predicate if it would else count for nothing.
    """
    spoken = [at for at in range(start, pivot) if tokens[at].weight > 0]
    if not spoken or tokens[spoken[-1]].sort is not Sort.WORD or tokens[spoken[-1]].surface in ABBREVIATED:
        return frozenset()
    word = tokens[spoken[-1]]
    plural = word.surface.endswith("s") and tokens[pivot].surface not in ("is", "was", "has", "does")
    bare = len(spoken) == 1 and spoken[0] == start and not plural and not word.surface.endswith(_NOMINAL)
    return frozenset({spoken[-1]}) if bare or word.weight < _COUNTS else frozenset()


def _assign_instruction(tokens: Sequence[Token], first: int, clause: Clause, roles: list[Role]) -> None:
    direct = Role.VALUE if tokens[first].key in CHOOSING else Role.SUBJECT
    roles[first] = Role.PREDICATE
    role = direct
    taken = False
    for at in range(first + 1, clause.end):
        token = tokens[at]
        if token.surface in PREPOSITIONS and taken:
            role = Role.VALUE if token.surface == "to" and direct is Role.VALUE else Role.SCOPE
        taken = taken or token.weight > 0
        roles[at] = role


def _assign_subject(tokens: Sequence[Token], start: int, pivot: int, roles: list[Role]) -> None:
    """What stands before the predicate is the subject, but a preposition at the very start opens a scope."""
    role = Role.SUBJECT
    if tokens[start].surface in PREPOSITIONS:
        role = Role.CONDITION
    for at in range(start, pivot):
        if role is Role.CONDITION and at > start + 1 and tokens[at].surface in ARTICLES:
            role = Role.SUBJECT
        roles[at] = role


def _assign_predicate(tokens: Sequence[Token], pivot: int, end: int, roles: list[Role]) -> tuple[str, bool]:
    """Sets the roles from the predicate on; returns the predicate's key and whether it is passive."""
    predicate = ""
    passive = False
    copula = tokens[pivot].surface in COPULAS
    role = Role.PREDICATE
    taken = False
    for at in range(pivot, end):
        token = tokens[at]
        if role is Role.PREDICATE:
            if token.sort is Sort.WORD and not predicate and _may_be_predicate(token, tokens, at, pivot):
                marked = tokens[pivot].sort is Sort.MARK and at > pivot
                predicate, passive = token.key, copula or (marked and _is_participle(token.surface))
                roles[at] = Role.PREDICATE
                continue
            if token.sort in (Sort.STOP, Sort.MARK) and token.surface not in PREPOSITIONS and token.surface not in ARTICLES:
                roles[at] = Role.PREDICATE
                continue
            role = Role.VALUE
        if token.surface in PREPOSITIONS and taken:
            measured = at + 1 < end and tokens[at + 1].sort is Sort.QUANTITY and token.surface in ("of", "at", "to")
            role = Role.VALUE if measured else Role.SCOPE
        taken = taken or token.weight > 0
        roles[at] = role
    return predicate or tokens[pivot].surface, passive


def _is_participle(surface: str) -> bool:
    return surface.endswith("ed") or surface in PARTICIPLES


def _may_be_predicate(token: Token, tokens: Sequence[Token], at: int, pivot: int) -> bool:
    if at == pivot:
        return True
    if tokens[at - 1].surface in ARTICLES or tokens[at - 1].surface in PREPOSITIONS:
        return False
    return stem(token.surface) in VERBS or token.surface in IMPERATIVES or token.surface.endswith("ed")


def _names_a_role(tokens: Sequence[Token], pivot: int, end: int) -> bool:
    """Tells "db-3 is the primary of X" and "the largest part of X", where the value stands first."""
    if tokens[pivot].surface not in ("is", "are") or pivot + 1 >= end or tokens[pivot + 1].surface != "the":
        return False
    for at in range(pivot + 2, min(pivot + 5, end)):
        if tokens[at].surface in ("of", "for"):
            return tokens[at - 1].key in ATTRIBUTES or any(other.surface.endswith("est") for other in tokens[pivot + 2 : at])
    return False


def _swap(roles: list[Role], start: int, end: int) -> None:
    for at in range(start, end):
        if roles[at] is Role.SUBJECT:
            roles[at] = Role.VALUE
        elif roles[at] in (Role.VALUE, Role.SCOPE):
            roles[at] = Role.SUBJECT
