"""The clauses of a sentence: what it asserts, under which conditions, with which polarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.models.judges.claim import EXCEPT, OUTSIDE, Role
from tributary.models.judges.grammar import ARTICLES, COPULAS, MODAL_MARKS, PARTICIPLES, PREPOSITIONS
from tributary.models.judges.predicate import first_word, instructs, pivot_of
from tributary.models.judges.sorts import Sort, Token
from tributary.models.judges.words import NEGATING, NOUNISH, VERBS, stem

_CONDITION_MARKS = frozenset({"IF", "UNLESS", "WITHOUT", "UNTIL", EXCEPT})
_ASIDE_MARKS = frozenset({"BECAUSE", "ELSE", "INSTEAD", "ASIDE"})
_LEAST_RELATIVE = 3
_PLAIN_VERBS = VERBS - NOUNISH
_RELATIVES = ("that", "who")
_NEGATING_MARKS = frozenset({"UNLESS", "WITHOUT", "INSTEAD", EXCEPT})


@dataclass(slots=True)
class Clause:
    """A stretch of tokens of one kind; `kind` is VALUE for a main clause, whose roles are found later."""

    start: int
    end: int
    kind: Role
    negated: bool
    subject: Clause | None = None
    """The clause that holds the subject, where a condition stands between the two."""


def clauses_of(tokens: Sequence[Token], consumed: frozenset[int]) -> list[Clause]:
    """Returns the clauses in order; the marks at `consumed` have had their say in an order already."""
    clauses: list[Clause] = []
    current = Clause(start=0, end=0, kind=Role.VALUE, negated=False)

    def close(at: int, kind: Role, *, negated: bool = False) -> None:
        nonlocal current
        current.end = at
        if current.end > current.start:
            clauses.append(current)
        current = Clause(start=at, end=at, kind=kind, negated=negated)

    for at, token in enumerate(tokens):
        if current.kind is Role.CONDITION and _resumes(tokens, current, clauses, at):
            subject = clauses[-1]
            close(at, Role.VALUE)
            current.subject = subject
        elif _begins(tokens, current, at):
            close(at, Role.VALUE)
        elif (opened := _opened_by(tokens, at, consumed)) is not None:
            close(at, opened, negated=token.surface in _NEGATING_MARKS)
        elif token.surface == "and" and _negates_only_later(tokens, current.start, at):
            close(at, current.kind, negated=current.negated)
        if token.ends and token.ends != "." and _breaks(token, tokens, at):
            close(at + 1, Role.VALUE)
    close(len(tokens), Role.VALUE)
    return clauses


def _opened_by(tokens: Sequence[Token], at: int, consumed: frozenset[int]) -> Role | None:
    """Returns the kind of clause that the token opens, or None."""
    token = tokens[at]
    if token.surface in _RELATIVES and at and _relates(tokens, at):
        return Role.CONDITION
    if token.sort is not Sort.MARK:
        if token.surface in ("but", "or") and at and tokens[at - 1].ends == ",":
            return Role.ASIDE if token.surface == "or" else Role.VALUE
        return None
    if at in consumed:
        if token.surface == "NOT":
            return None
        return Role.VALUE if token.surface == "THEN" else Role.CONDITION
    if token.surface in _CONDITION_MARKS:
        return Role.CONDITION
    if token.surface in _ASIDE_MARKS:
        return Role.ASIDE
    return Role.CONDITION if token.surface in ("BEFORE", "AFTER") and not _bare(tokens, at) else None


def _relates(tokens: Sequence[Token], at: int) -> bool:
    """Tells "jobs that fail" from "check that it runs": the word before names something, and a predicate follows."""
    previous, following = tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else None
    if following is None or previous.ends or previous.weight <= 0 or stem(previous.surface) in VERBS:
        return False
    denied = following.sort is Sort.MARK and following.surface == "NOT"
    return denied or following.surface in COPULAS or (following.sort is Sort.WORD and stem(following.surface) in VERBS)


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


def _resumes(tokens: Sequence[Token], current: Clause, clauses: list[Clause], at: int) -> bool:
    """Tells the predicate of "load tests before a release | are optional", whose subject stands before the condition."""
    if not _may_resume(tokens, current, at):
        return False
    if (
        tokens[current.start].surface not in ("BEFORE", "AFTER", "WITHOUT", EXCEPT, *_RELATIVES)
        or not clauses
        or at < current.start + 2
    ):
        return False
    main = clauses[-1]
    first = first_word(tokens, main.start, main.end)
    pivot = pivot_of(tokens, main.start, main.end)
    predicated = pivot is not None and stem(tokens[pivot].surface) not in NOUNISH
    return not predicated and not (first is not None and instructs(tokens, first, main.end))


def _may_resume(tokens: Sequence[Token], current: Clause, at: int) -> bool:
    token, opener = tokens[at], tokens[current.start].surface
    if token.surface == "NOT" and token.sort is Sort.MARK:
        # "that fail | are not retried", but "that shows no errors"
        predicated = at + 1 < len(tokens) and (tokens[at + 1].surface.endswith("ed") or tokens[at + 1].surface in PARTICIPLES)
        return opener == "WITHOUT" or (opener in _RELATIVES and predicated)
    if opener == "WITHOUT" and _goes_on(tokens, at):
        return True
    if opener in _RELATIVES and at >= current.start + _LEAST_RELATIVE and token.sort is Sort.WORD:
        return stem(token.surface) in VERBS and token.surface.endswith("s") and tokens[at - 1].surface != "NOT"
    return token.surface in COPULAS or (token.sort is Sort.MARK and token.surface in MODAL_MARKS)


def _goes_on(tokens: Sequence[Token], at: int) -> bool:
    """Tells the verb of "rows without an owner | go to the archive"."""
    token, previous, following = tokens[at], tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else None
    if token.sort is not Sort.WORD or stem(token.surface) not in _PLAIN_VERBS or previous.weight <= 0 or token.ends:
        return False
    bare = not token.surface.endswith(("ed", "ing")) and not previous.ends
    return bare and following is not None and (following.surface in PREPOSITIONS or following.surface in ARTICLES)


def _begins(tokens: Sequence[Token], current: Clause, at: int) -> bool:
    """Tells the main clause of "without a tag | the pipeline fails" and of "a missing index | makes the query slow"."""
    if current.start or current.kind is Role.VALUE or not _leads(tokens[0]) or at < 2:
        return False
    token, previous = tokens[at], tokens[at - 1]
    if previous.weight <= 0 or previous.ends:
        return False
    verb = token.sort is Sort.WORD and stem(token.surface) in VERBS and token.surface.endswith("s")
    return verb or token.surface in COPULAS or token.surface in ("a", "an", "the")


def _leads(token: Token) -> bool:
    """Tells what may stand at the head of a sentence without a comma behind its phrase."""
    return token.surface in ("WITHOUT", "BECAUSE", EXCEPT) or token.key == OUTSIDE


def _bare(tokens: Sequence[Token], at: int) -> bool:
    """Tells "expires after 24 h" from "after the rollout": a measure after the mark makes it a value."""
    return at + 1 < len(tokens) and tokens[at + 1].sort is Sort.QUANTITY


def _breaks(token: Token, tokens: Sequence[Token], at: int) -> bool:
    if token.ends == ":":
        return token.sort in (Sort.WORD, Sort.STOP)
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    # Commas inside a list of names or numbers don't end the clause.
    return following is not None and not (token.sort is following.sort and token.sort is not Sort.WORD)


def _hinders(tokens: Sequence[Token], clause: Clause) -> bool:
    """Tells "blocked until the tests pass", which is "while they don't"."""
    return any(token.sign < 0 and token.key in NEGATING for token in tokens[clause.start : clause.end])


def settle_polarity(tokens: Sequence[Token], clauses: list[Clause], consumed: frozenset[int]) -> int:
    """Sets each clause's polarity from its negations, and returns what the sentence demands (+1), leaves free (-1) or neither."""
    need = 0
    for number, clause in enumerate(clauses):
        negations = int(tokens[clause.start].surface == "UNTIL" and number > 0 and _hinders(tokens, clauses[number - 1]))
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
        if clause.subject is not None:
            clause.subject.negated = clause.negated
    return need
