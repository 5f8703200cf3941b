"""Which preposition or mark opened the phrase that a token stands in."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.models.judges.claim import EXCEPT, ONLY, OUTSIDE, Role
from tributary.models.judges.grammar import ARTICLES, PREPOSITIONS
from tributary.models.judges.sorts import Sort, Token
from tributary.models.judges.words import VERBS, stem

_RELATIVES = frozenset({"that", "who"})
RELATIVE, PURPOSE = "that", "TO"
_CLAUSE_MARKS = frozenset({"IF", "UNLESS", "WITHOUT", "UNTIL", "BEFORE", "AFTER", EXCEPT})


def openers_of(tokens: Sequence[Token], roles: Sequence[Role], clause_of: Sequence[int]) -> list[tuple[str, int]]:
    """Returns for each token what opened its phrase ('' if nothing did) and the phrase's number in its sentence.

    A clause opened by a mark is one phrase, whatever prepositions it holds; "of" goes on with the phrase before it. A phrase
    with an "only" right before or behind it is opened by that.
    """
    found: list[tuple[str, int]] = []
    opener, phrase, clausal, only = "", 0, False, False
    for at, token in enumerate(tokens):
        if opener == EXCEPT and not tokens[at - 1].ends and _may_follow_except(tokens, at):
            found.append((opener, phrase))
            continue
        fresh = at == 0 or clause_of[at] != clause_of[at - 1] or bool(tokens[at - 1].ends) or _turns(roles, at)
        if fresh:
            opener, phrase, clausal = "", phrase + 1, False
        if token.sort is Sort.MARK and token.surface in _CLAUSE_MARKS:
            opener, phrase, clausal = _mark(token, only=only), phrase + 1, True
        elif token.surface in _RELATIVES and fresh and roles[at] is Role.CONDITION:
            opener, clausal = RELATIVE, True
        elif token.surface in PREPOSITIONS and not clausal and not (token.surface == "of" and opener):
            opener, phrase = ONLY if only else _preposition(tokens, at), phrase + 1
        elif only and not opener and not clausal and _begins(tokens, at - 1):
            opener, phrase = ONLY, phrase + 1
        elif _trails(tokens, at) and opener:
            found = [(ONLY, of) if of == phrase else (before, of) for before, of in found]
        only = token.sort is Sort.MARK and token.surface == ONLY
        found.append((opener, phrase))
    return found


def _turns(roles: Sequence[Role], at: int) -> bool:
    """Tells where the predicate begins or ends, and where the subject begins after "in the Dublin office"."""
    pair = roles[at - 1], roles[at]
    return roles[at] is not roles[at - 1] and (Role.PREDICATE in pair or pair == (Role.CONDITION, Role.SUBJECT))


def _may_follow_except(tokens: Sequence[Token], at: int) -> bool:
    """Tells "except after the release" and "except those without a label", where the exception goes on."""
    mark = tokens[at].sort is Sort.MARK and tokens[at].surface in _CLAUSE_MARKS
    return mark or tokens[at - 1].surface == EXCEPT


def _mark(token: Token, *, only: bool) -> str:
    """Returns the mark, but the word itself for "outside", which narrows where "unless" excepts."""
    if only and (token.surface == "IF" or token.key == OUTSIDE):
        return ONLY
    return token.key if token.key == OUTSIDE else token.surface


def _preposition(tokens: Sequence[Token], at: int) -> str:
    """Returns the preposition, or PURPOSE for a "to" that says what for."""
    following = tokens[at + 1 : at + 3]
    if tokens[at].surface != "to" or not following:
        return tokens[at].surface
    verb = stem(following[0].surface) in VERBS or (following[0].weight > 0 and following[-1].surface in ARTICLES)
    return PURPOSE if at == 0 or verb else "to"


def _begins(tokens: Sequence[Token], at: int) -> bool:
    """Tells "only auditors may" from "is only marked" and "takes only 5 minutes"."""
    return (at == 0 or bool(tokens[at - 1].ends)) and tokens[at + 1].sort in (Sort.WORD, Sort.NAME)


def _trails(tokens: Sequence[Token], at: int) -> bool:
    """Tells the "only" of "in staging only", which closes its clause."""
    return tokens[at].sort is Sort.MARK and tokens[at].surface == ONLY and (bool(tokens[at].ends) or at + 1 == len(tokens))
