"""Counters of one process, which are added up in the database now and then, so that nobody's call waits to be counted.

They are a best effort: a process that is killed loses what it had not handed over yet, and counts whose acknowledgement was lost
on the way may be added twice.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Generic, LiteralString, Protocol, TypeVar

from psycopg.types.json import Jsonb

from tributary.core.errors import TributaryError, Unavailable
from tributary.store import Database
from tributary.telemetry import Event, log

MOST = 10_000
"""Counters that wait in a process at most, should the database stay away: beyond them, what is new is not counted."""
DUE_AFTER_S = 60.0
ATTEMPTS = 2
"""The second in case that the connection was an old one."""


class Named(Hashable, Protocol):
    """What is counted apart: a named tuple of what JSON can say."""

    def _asdict(self) -> dict[str, Any]: ...


Key = TypeVar("Key", bound=Named)


class Counters(Generic[Key]):
    """Counts things. Thread-safe; raises nothing to those whose calls it counts."""

    def __init__(self, database: Database, adds: LiteralString, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`database` is the writer, never a replica; `adds` the statement that adds up `counts`, and says whether it could."""
        self._database = database
        self._adds = adds
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: Counter[Key] = Counter()
        self._flushed_at = clock()

    def add(self, key: Key, calls: int = 1) -> None:
        """Counts some more of what is counted under `key`."""
        with self._lock:
            if key in self._waiting or len(self._waiting) < MOST:
                self._waiting[key] += calls

    def flush(self) -> None:
        """Hands over what was counted, in one statement; when that fails, it is kept for the next time and an event says so."""
        with self._lock:
            handed, self._waiting = self._waiting, Counter()
            self._flushed_at = self._clock()
        if not handed:
            return
        try:
            self._add_up(handed)
        except Exception as error:  # whatever it is, it is no matter of whoever was counted
            with self._lock:
                self._waiting.update(handed)
            level, code = (log.WARNING, error.code) if isinstance(error, TributaryError) else (log.ERROR, "internal")
            log.event(Event.USAGE_DELAYED, level=level, error=error, code=code, calls=handed.total())

    def _add_up(self, handed: Counter[Key]) -> None:
        counts = [{**key._asdict(), "calls": calls} for key, calls in handed.items()]
        ((done,),) = self._database.rows(self._adds, {"counts": Jsonb(counts)}, attempts=ATTEMPTS)
        if not done:
            raise Unavailable("the database takes no writes now")

    def flush_when_due(self) -> None:
        """Hands over when nobody did for DUE_AFTER_S: for a process that has no background of its own."""
        if self._clock() - self._flushed_at >= DUE_AFTER_S:
            self.flush()
