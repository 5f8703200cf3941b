"""Which preposition or mark opened the phrase that a token stands in."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.models.judges.claim import Role
from tributary.models.judges.grammar import PREPOSITIONS
from tributary.models.judges.sorts import Sort, Token

_CLAUSE_MARKS = frozenset({"IF", "UNLESS", "WITHOUT", "UNTIL", "BEFORE", "AFTER", "EXCEPT"})


def openers_of(tokens: Sequence[Token], roles: Sequence[Role], clause_of: Sequence[int]) -> list[tuple[str, int]]:
    """Returns for each token what opened its phrase ('' if nothing did) and the phrase's number in its sentence.

    A clause opened by a mark is one phrase, whatever prepositions it holds; "of" goes on with the phrase before it.
    """
    found: list[tuple[str, int]] = []
    opener, phrase, clausal = "", 0, False
    for at, token in enumerate(tokens):
        fresh = at == 0 or clause_of[at] != clause_of[at - 1] or bool(tokens[at - 1].ends)
        if fresh or (roles[at] is not roles[at - 1] and Role.PREDICATE in (roles[at], roles[at - 1])):
            opener, phrase, clausal = "", phrase + 1, False
        if token.sort is Sort.MARK and token.surface in _CLAUSE_MARKS:
            opener, phrase, clausal = token.surface, phrase + 1, True
        elif token.surface in PREPOSITIONS and not clausal and not (token.surface == "of" and opener):
            opener, phrase = token.surface, phrase + 1
        found.append((opener, phrase))
    return found
