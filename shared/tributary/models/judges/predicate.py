"""Where the predicate of a clause stands, and whether the clause instructs."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.models.judges.grammar import ARTICLES, COPULAS, MODAL_MARKS, PARTICLES, PAST, PREPOSITIONS, PRONOUNS
from tributary.models.judges.sorts import Sort, Token
from tributary.models.judges.words import IMPERATIVES, NOUNISH, VERBS, stem


def first_word(tokens: Sequence[Token], start: int, end: int) -> int | None:
    for at in range(start, end):
        token = tokens[at]
        if token.sort is Sort.MARK and token.surface in ("IF", "UNLESS", "MAY", "NEED", "OPTIONAL", "AFTER", "BEFORE"):
            if token.surface == "NEED" and at == start:
                continue
            return None
        if token.surface in PRONOUNS:
            return None
        if token.sort not in (Sort.MARK, Sort.STOP):
            return at
        if token.surface in PREPOSITIONS and at == start:
            return _after_opening(tokens, start, end)
        if token.surface in ARTICLES or token.surface in PREPOSITIONS or token.surface in COPULAS:
            return None
    return None


def _after_opening(tokens: Sequence[Token], start: int, end: int) -> int | None:
    """Returns the place of the instruction in "for questions about X ask Y"."""
    for at in range(start + 2, end - 1):
        before = tokens[at - 1]
        free = before.surface not in ARTICLES and before.surface not in PREPOSITIONS
        if free and tokens[at].surface in IMPERATIVES and before.surface.endswith("s"):
            return at
    return None


def instructs(tokens: Sequence[Token], first: int, end: int) -> bool:
    if tokens[first].surface not in IMPERATIVES or tokens[first].proper:
        return False
    for at in range(first + 1, end):
        token = tokens[at]
        if token.surface in ("that", "which", "who", "because"):
            break
        if token.surface in COPULAS or (token.sort is Sort.MARK and token.surface in ("NEED", "OPTIONAL", "MAY")):
            return False
    following = tokens[first + 1] if first + 1 < end else None
    if _is_followed_by_predicate(tokens, first, end):
        return False
    return not (following is not None and following.surface.endswith("s") and stem(following.surface) in VERBS)


def _is_followed_by_predicate(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Tells "search nodes run with ZGC", of search nodes, from "restart nodes": a verb stands behind the noun."""
    if first + 3 >= end or tokens[first].ends or tokens[first + 1].ends:
        return False
    noun, verb, following = tokens[first + 1 : first + 4]
    plural = noun.sort is Sort.WORD and noun.surface.endswith("s") and not noun.surface.endswith("ss")
    bare = verb.sort is Sort.WORD and stem(verb.surface) in VERBS and not verb.surface.endswith(("s", "ed", "ing"))
    return plural and bare and not verb.ends and (following.surface in PREPOSITIONS or following.surface in ARTICLES)


def pivot_of(tokens: Sequence[Token], start: int, end: int) -> int | None:
    seen = tokens[start].surface in PRONOUNS
    for at in range(start, end):
        token = tokens[at]
        if token.surface in COPULAS or (token.sort is Sort.MARK and token.surface in MODAL_MARKS and seen):
            return at
        if seen and _is_verb(tokens, at, end):
            return at
        seen = seen or token.weight > 0
    return next((at for at in range(start + 1, end) if _looks_like_verb(tokens, at, end)), None)


def _looks_like_verb(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Guesses an unknown predicate by its ending and by what follows it: "files arrive in", "the parser chokes on"."""
    token, previous = tokens[at], tokens[at - 1]
    if token.sort is not Sort.WORD or token.proper or previous.sort is Sort.STOP or previous.ends or token.ends:
        return False
    third_person = token.surface.endswith("s") and not token.surface.endswith(("ss", "us", "is"))
    known = stem(token.surface) in VERBS and any(earlier.surface.endswith("s") for earlier in tokens[:at])
    if not third_person and not known and not previous.surface.endswith("s"):
        return False
    following = tokens[at + 1] if at + 1 < end else None
    return following is not None and (
        following.surface in ARTICLES
        or following.surface in PREPOSITIONS - {"of"}
        or following.surface in PARTICLES
        or following.sort is Sort.QUANTITY
    )


def _is_verb(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tells a predicate from a noun of the same form: "restarts" in "the service restarts take 40 s" is a noun."""
    token, previous = tokens[at], tokens[at - 1]
    if token.sort is not Sort.WORD or stem(token.surface) not in VERBS or token.surface.endswith("ing"):
        return False
    if previous.surface in ARTICLES or previous.surface in PREPOSITIONS:
        return False
    third_person = token.surface.endswith("s") and not token.surface.endswith("ss")
    past = token.surface.endswith("ed") or token.surface in PAST
    if not (third_person or past or previous.surface in PRONOUNS or previous.surface.endswith("s")):
        return False
    following = tokens[at + 1 : min(at + 3, end)]
    if any(other.surface in COPULAS or other.surface in MODAL_MARKS for other in following):
        return False
    if stem(token.surface) not in NOUNISH or not following or following[0].sort is not Sort.WORD:
        return True
    # A noun of the same form stands right before the real predicate.
    return stem(following[0].surface) not in VERBS or following[0].surface.endswith(("ing", "ed"))
