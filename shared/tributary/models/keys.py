"""Which keys can be sent at all."""

from __future__ import annotations

KEY_RULE = "must be printable ASCII without white space"


def is_sendable(key: str) -> bool:
    """Tells whether a header can carry a key as it is."""
    return bool(key) and all("!" <= one <= "~" for one in key)
