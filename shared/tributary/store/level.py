"""Which schema this code may run on: a contracting migration says how old the code may be (`schema_requirement`)."""

from __future__ import annotations

from tributary.core.errors import CodeTooOld

CODE_LEVEL = 1
"""Raised by each release whose code can do without something that a contracting migration then removes."""


def check_level(oldest_code: int) -> None:
    """Raises CodeTooOld when the schema asks for newer code than this."""
    if oldest_code > CODE_LEVEL:
        raise CodeTooOld
