"""How often agents read. Writes are counted where they are let in (`access.admission`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from tributary.access.counting import Counters
from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.store import Database, statement


class Counted(NamedTuple):
    """What is counted apart: one agent's calls of one operation on one day (UTC)."""

    tribe_id: str
    agent_id: str
    day: str
    operation: str


class Usage(Counters[Counted]):
    """Counts calls that were answered, by agent and day."""

    def __init__(self, database: Database, *, now: Now = utc_now, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(database, statement("access", "count_usage"), clock=clock)
        self._now = now

    def count(self, principal: Principal, operation: str) -> None:
        """Counts one call that was answered."""
        self.add(Counted(str(principal.tribe_id), str(principal.agent_id), self._now().date().isoformat(), operation))
