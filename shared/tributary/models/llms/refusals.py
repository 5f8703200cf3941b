"""Whether a provider refuses a request for its shape, told by words that may repeat what was sent."""

from __future__ import annotations

import re

_TOLD = 300
"""Characters of a message that are looked at: a refusal says at once what it refuses, what it quotes comes after."""
_APART = 80
_REFUSED = (
    r"(?:un(?:supported|known|recogni[sz]ed|available|expected)\b"
    r"|\bnot (?:supported|available|allowed|permitted|recogni[sz]ed|known|implemented|enabled)\b"
    r"|\b(?:do(?:es)?|did)(?: not|n['\u2019]t) support\b|\bno endpoints found that support\b"
    r"|\bdeprecated\b|\bmust be one of\b|\bonly supports?\b|\brequires? --)"
)


def unsupported(name: str) -> re.Pattern[str]:
    """Returns the form of words that say of a parameter, whose `name` is a regular expression, that it is not taken."""
    between = rf"[^\n]{{0,{_APART}}}?"
    return re.compile(rf"{_REFUSED}{between}(?:{name})|(?:{name}){between}{_REFUSED}", re.IGNORECASE)


def says(form: re.Pattern[str], message: str, *, sent: str) -> bool:
    """Tells whether a message says so in its own words. Those that stand in what was `sent` are taken for a quotation of it."""
    found = form.search(message[:_TOLD])
    return found is not None and _plain(found.group()) not in _plain(sent)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
