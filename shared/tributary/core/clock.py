"""Wall-clock time as a port, so that whoever runs the code owns its clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Now = Callable[[], datetime]
"""Gives the present instant, aware, in UTC."""


def utc_now() -> datetime:
    return datetime.now(UTC)
