"""`as_of`: a tick of the tribe's clock, an instant, or now."""

from __future__ import annotations

from datetime import datetime


def tick_and_instant(as_of: int | datetime | None) -> tuple[int | None, datetime | None]:
    """Returns (tick, None), (None, instant) or, for now, (None, None)."""
    if isinstance(as_of, datetime):
        return None, as_of
    return as_of, None
