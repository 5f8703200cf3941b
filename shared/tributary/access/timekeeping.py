"""What happened in each hour that no event tells: recalls and learns with how long they took, and pairs that were judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from tributary.access.counting import Counters
from tributary.core.activity import Every, bin_of
from tributary.core.clock import Now, utc_now
from tributary.core.receipt import Coverage
from tributary.store import Database, statement


class Happened(NamedTuple):
    """What is counted apart: what happened in an hour of a tribe, by how long it took (`core.activity.BOUNDS_MS`)."""

    tribe_id: str
    hour: str
    what: str
    bin: int


class Timekeeper(Counters[Happened]):
    """Counts what happened, by tribe and hour; as `Usage`, it is written down now and then and keeps nobody waiting."""

    def __init__(self, database: Database, *, now: Now = utc_now, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(database, statement("access", "count_activity"), clock=clock)
        self._now = now

    def recalled(self, tribe_id: UUID, coverage: Coverage, ms: float) -> None:
        """Counts a recall that was answered, by the coverage of its receipt."""
        self._happened(tribe_id, f"recall.{coverage}", bin_of(ms))

    def learned(self, tribe_id: UUID, ms: float) -> None:
        """Counts a learn that was answered, whatever it came to."""
        self._happened(tribe_id, "learn", bin_of(ms))

    def judged(self, tribe_id: UUID, pairs: int, escalated: int) -> None:
        """Counts pairs that a judge answered about, and those of them that the strong judge was asked about as well."""
        for what, count in (("pairs.judged", pairs), ("pairs.escalated", escalated)):
            if count:
                self._happened(tribe_id, what, 0, count)

    def _happened(self, tribe_id: UUID, what: str, number: int, calls: int = 1) -> None:
        hour = Every.HOUR.start(self._now()).isoformat()
        self.add(Happened(str(tribe_id), hour, what, number), calls)
