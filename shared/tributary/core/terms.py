"""The terms of a text: words, and identifiers kept whole.

PostgreSQL's own parser splits `db_url_v2`, drops the dashes of `--no-cache` and reads `-x` as a negation in queries. In
operations the identifier is the very thing that a reader searches for, so it stays one term; its parts are terms too,
so that `db_url` still meets a text that says "db url".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tributary.core.normal import folded

TERM_CHARACTERS = 80
TERMS_PER_LESSON = 400
RARE_TERMS = 8
"""How many of a text's rarest terms are looked up."""
COMMON_FROM = 100
"""A term that more lessons of a tribe hold than this separates little, and each further holder costs time: it is passed over."""

_CJK = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = rf"[^\W{_CJK}]+"
# A run of a script without spaces; or letters and digits, joined inside by . _ - / : @ + =, with leading dashes, slash, dot,
# at or dollar sign kept ("--no-cache"). Where such a script touches an identifier, the identifier ends.
_TOKEN = re.compile(rf"(?P<unspaced>(?:(?=\w)[{_CJK}])+)|(?:--?|[/@.$])?{_WORD}(?:[._\-/:@+=]+{_WORD})*")
_PART = re.compile(r"[^\W_]+")
_STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its "
    "may me must my no not of on or our shall she should so than that the their them then there these they this those to "
    "too us was we were what when where which while who why will with would you your".split()
)


def terms_of(text: str) -> tuple[str, ...]:
    """Returns the distinct terms of `text`, in order of first appearance, at most TERMS_PER_LESSON.

    Case is folded; identifiers stay whole and also give their parts; text in scripts without spaces gives its bigrams.
    """
    found: dict[str, None] = {}
    for term in _all_terms(folded(text)):
        if len(term) <= TERM_CHARACTERS and term not in _STOP:
            found[term] = None
            if len(found) == TERMS_PER_LESSON:
                break
    return tuple(found)


def _all_terms(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match["unspaced"]:
            yield from _bigrams(token)
            continue
        parts = _PART.findall(token)
        if parts and (len(token) > 1 or token.isdigit()):  # a line of underscores has no part and tells nothing
            yield token
        if parts != [token]:
            yield from (part for part in parts if len(part) > 1)


def _bigrams(token: str) -> Iterator[str]:
    if len(token) == 1:
        yield token
    for index in range(len(token) - 1):
        yield token[index : index + 2]
