"""Ending in time what the operator's side does, where the process is going to be stopped at a known moment."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from tributary.core.errors import InvalidRequest, Overloaded

_AGAIN_S = 0.5
_CANCEL_S = 5.0


class Until:
    """A moment `budget_s` seconds from now; None is never."""

    def __init__(self, budget_s: float | None) -> None:
        if budget_s is not None and math.isnan(budget_s):  # which no moment comes after
            raise InvalidRequest("budget_s", "must be a number of seconds")
        self._end = None if budget_s is None else time.monotonic() + budget_s

    def passed(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, none below zero; None without an end."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @contextmanager
    def cancelling(self, connection: psycopg.Connection, *, detail: str) -> Iterator[None]:
        """Cancels every statement that still runs on `connection` then, until the block ends; raises Overloaded with `detail`."""
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(connection, over), name="tributary-until", daemon=True)
        if self._end is not None:
            thread.start()
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise Overloaded(detail) from error
        finally:
            over.set()
            if self._end is not None:
                thread.join()

    def _watch(self, connection: psycopg.Connection, over: threading.Event) -> None:
        # Again and again: a cancellation that arrives between two statements is forgotten by the server.
        over.wait(self.left_s)
        while not over.is_set():
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=_CANCEL_S)
            over.wait(_AGAIN_S)
