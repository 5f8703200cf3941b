"""How often agents read: counted in the process, and added up in the database now and then, so that no read waits to be counted.

Writes are counted where they are let in (`access.admission`). These counts are a best effort: a process that is killed loses
what it had not handed over yet, and counts whose acknowledgement was lost on the way may be added twice.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from psycopg.types.json import Jsonb

from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.core.errors import TributaryError, Unavailable
from tributary.store import Database, statement
from tributary.telemetry import Event, log

MOST = 10_000
"""Counters that wait in a process at most, should the database stay away: beyond them, what is new is not counted."""
DUE_AFTER_S = 60.0
ATTEMPTS = 2
"""The second in case that the connection was an old one."""


class Counted(NamedTuple):
    """What is counted apart: one agent's calls of one operation on one day (UTC)."""

    tribe_id: str
    agent_id: str
    day: str
    operation: str


class Usage:
    """Counts calls. Thread-safe; raises nothing to those whose calls it counts."""

    def __init__(self, database: Database, *, now: Now = utc_now, clock: Callable[[], float] = time.monotonic) -> None:
        """`database` is the writer, never a replica."""
        self._database = database
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: Counter[Counted] = Counter()
        self._flushed_at = clock()

    def count(self, principal: Principal, operation: str) -> None:
        """Counts one call that was answered."""
        key = Counted(str(principal.tribe_id), str(principal.agent_id), self._now().date().isoformat(), operation)
        with self._lock:
            if key in self._waiting or len(self._waiting) < MOST:
                self._waiting[key] += 1

    def flush(self) -> None:
        """Hands over what was counted, in one statement; when that fails, it is kept for the next time and an event says so."""
        with self._lock:
            handed, self._waiting = self._waiting, Counter()
            self._flushed_at = self._clock()
        if not handed:
            return
        try:
            self._add(handed)
        except Exception as error:  # whatever it is, it is no matter of whoever was counted
            with self._lock:
                self._waiting.update(handed)
            level, code = (log.WARNING, error.code) if isinstance(error, TributaryError) else (log.ERROR, "internal")
            log.event(Event.USAGE_DELAYED, level=level, error=error, code=code, calls=handed.total())

    def _add(self, handed: Counter[Counted]) -> None:
        counts = [{**key._asdict(), "calls": calls} for key, calls in handed.items()]
        ((done,),) = self._database.rows(statement("access", "count_usage"), {"counts": Jsonb(counts)}, attempts=ATTEMPTS)
        if not done:
            raise Unavailable("the database takes no writes now")

    def flush_when_due(self) -> None:
        """Hands over when nobody did for DUE_AFTER_S: for a process that has no background of its own."""
        if self._clock() - self._flushed_at >= DUE_AFTER_S:
            self.flush()
