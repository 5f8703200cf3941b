"""What case and exponents tell apart, though folding them away is right nearly everywhere else.

-c and -C        options            u+s and u+S      modes
5 Mb and 5 MB    units              10⁵ and 105      exponents
"""

from __future__ import annotations

import re
import unicodedata

_TELLING = re.compile(
    r"(?<![\w-])--?\w[\w-]*"  # options
    r"|(?<!\w)[ugoa]*[+=-][a-zA-Z]+(?!\w)"  # modes
    r"|(?<=\d)\s?[a-zA-Z]{1,4}(?!\w)"  # units after a number
)


def told_apart(one: str, other: str) -> bool:
    """Tells whether only case or raising makes an option, a mode, a unit or an exponent of one text equal the other's."""
    mine, theirs = _options_and_units(one), _options_and_units(other)
    only_case = mine != theirs and [term.casefold() for term in mine] == [term.casefold() for term in theirs]
    return only_case or _raised(one) != _raised(other)


def _options_and_units(text: str) -> list[str]:
    return [match.strip() for match in _TELLING.findall(text)]


def _raised(text: str) -> list[str]:
    """Returns the digits and signs of `text` that stand above or below its line."""
    return [character for character in text if unicodedata.decomposition(character).startswith(("<super>", "<sub>"))]
