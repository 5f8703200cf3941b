"""How long is waited for a database that says nothing: for a statement, within a block of code, and before it is asked again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

from tributary.core.errors import Unavailable

SPARE_S = 5.0
"""A server ends a statement at its own time-out; for so much longer is waited for it to say so."""
AWAY_S = 5.0
"""For so long after it could not be reached, a database is spared: a dead one would cost each caller a whole time-out."""

Result = TypeVar("Result")
_ends_at: ContextVar[float] = ContextVar("tributary_database_ends_at", default=math.inf)


class NoAnswer(psycopg.OperationalError):
    """The server said nothing to a statement for as long as anybody waits for it. Whether it was done is not known."""


class OutOfTime(NoAnswer):
    """The caller had no more time (`within`), which tells little about the server."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Bounds what the block, in this thread, waits for databases in all; past it, what it asks raises Unavailable."""
    token = _ends_at.set(min(_ends_at.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ends_at.reset(token)


def left_s() -> float:
    """Returns the seconds that the block around has left to wait (`within`), infinite without one; raises OutOfTime at none."""
    left = _ends_at.get() - time.monotonic()
    if left <= 0:
        raise OutOfTime("there is no time left to ask the database")
    return left


class Connection(psycopg.Connection[Any]):
    """A connection that waits no longer than `most_s` for a statement, nor than the block around has (`within`).

    What the server does about a statement cannot help when it is the server, or the way to it, that hangs. psycopg looks up from
    its waiting some times a second; that is when the clock is read. So nothing outlives the statement that it bounds, and a
    process that was frozen for long takes what has arrived meanwhile before it gives anything up.
    """

    most_s: float = math.inf

    def wait(self, gen: PQGen[Result], *args: Any, **kwargs: Any) -> Result:
        ends_at = min(time.monotonic() + self.most_s, _ends_at.get())
        if ends_at == math.inf:
            return super().wait(gen, *args, **kwargs)
        return super().wait(_until(ends_at, gen), *args, **kwargs)


def _until(ends_at: float, statement: PQGen[Result]) -> Generator[Any, Any, Result]:
    try:
        wanted = next(statement)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= ends_at:
                statement.close()
                out_of_time = ends_at == _ends_at.get()
                raise (OutOfTime if out_of_time else NoAnswer)("the database did not answer in time")
            wanted = statement.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result


class Absence:
    """Whether a database did not answer a moment ago. Thread-safe.

    While it is away nobody dials it, and after that one caller at a time does, until it answers. One that refuses does answer:
    that costs nobody any time, and a server that is starting again refuses for a second, which is worth another try.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until: float | None = None
        self._probing = False

    def begin(self) -> None:
        """Notes that it does not answer."""
        with self._lock:
            self._until = self._clock() + AWAY_S

    @contextmanager
    def dialing(self) -> Iterator[None]:
        """Has the block dial, and learns from how it ends; raises Unavailable at once while nobody is to."""
        with self._lock:
            probe = self._until is not None
            if self._until is not None and (self._probing or self._clock() < self._until):
                raise Unavailable("the database did not answer a moment ago; try again in some seconds")
            self._probing |= probe
        try:
            yield
        except psycopg.errors.ConnectionTimeout:
            self.begin()
            raise
        except OutOfTime:
            raise
        except psycopg.OperationalError:
            self._end()
            raise
        else:
            self._end()
        finally:
            if probe:
                self._probing = False

    def _end(self) -> None:
        with self._lock:
            self._until = None
