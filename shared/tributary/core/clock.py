"""Wall-clock time as a port, so that whoever runs the code owns its clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Now = Callable[[], datetime]
"""Gives the present instant, aware, in UTC."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def left_of_day_s(now: datetime) -> int:
    """Returns the whole seconds, at least one, after which the next day (UTC) has begun."""
    moment = now.astimezone(UTC)
    midnight = (moment + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max(1, int((midnight - moment).total_seconds()) + 1)
