"""Where reads go when a read replica stands beside the writer: whose word counts, and what one of the two being away changes.

An answer of the replica is an answer: it is as old as the tick that it names. What a replica does not know, or refuses, may only
not have reached it yet, so there the writer is asked, and what the writer says is final. Whoever cannot be reached is passed
over for the other. Nobody says that there is nothing when only a replica was asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, LiteralString, Protocol, TypeVar

from tributary.core.errors import TributaryError, Unavailable
from tributary.store.database import Database, Parameters
from tributary.store.patience import AWAY_S

Result = TypeVar("Result")


class Side(Protocol):
    """One database that may answer a read."""

    @property
    def is_writer(self) -> bool: ...

    def records(self, query: LiteralString, parameters: Parameters) -> list[dict[str, Any]]: ...

    def value(self, query: LiteralString, parameters: Parameters) -> object: ...


class Reading(Protocol):
    """What can be read from: one database, or a writer with its replica. Reads alone; each raises only our own errors."""

    def value(self, query: LiteralString, parameters: Parameters) -> object: ...

    def records(self, query: LiteralString, parameters: Parameters) -> list[dict[str, Any]]: ...

    def rows(self, query: LiteralString, parameters: Parameters) -> list[tuple[Any, ...]]: ...

    def sides(self) -> Sequence[Side]:
        """Returns the databases in the order in which they are to be asked; for whoever judges their answers itself."""
        ...


class Watched:
    """A database of a pair. For `AWAY_S` after it could not be reached it is asked last, and once only."""

    def __init__(self, database: Database, *, is_writer: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_writer = is_writer
        self._database = database
        self._clock = clock
        self._away_until = 0.0

    @property
    def away(self) -> bool:
        return self._clock() < self._away_until

    def value(self, query: LiteralString, parameters: Parameters) -> object:
        return self._watching(lambda: self._database.value(query, parameters, attempts=self._attempts))

    def records(self, query: LiteralString, parameters: Parameters) -> list[dict[str, Any]]:
        return self._watching(lambda: self._database.records(query, parameters, attempts=self._attempts))

    def rows(self, query: LiteralString, parameters: Parameters) -> list[tuple[Any, ...]]:
        return self._watching(lambda: self._database.rows(query, parameters, attempts=self._attempts))

    @property
    def _attempts(self) -> int | None:
        return 1 if self.away else None

    def _watching(self, call: Callable[[], Result]) -> Result:
        try:
            result = call()
        except Unavailable:
            self._away_until = self._clock() + AWAY_S
            raise
        self._away_until = 0.0
        return result


class Replicated:
    """A writer and its replica as one thing to read from; `replica_first` is for what need not be current."""

    def __init__(self, *, writer: Watched, replica: Watched, replica_first: bool) -> None:
        self._order = (replica, writer) if replica_first else (writer, replica)

    def sides(self) -> Sequence[Watched]:
        return sorted(self._order, key=lambda side: side.away)

    def value(self, query: LiteralString, parameters: Parameters) -> object:
        return self._ask(lambda side: side.value(query, parameters), nothing=None)

    def records(self, query: LiteralString, parameters: Parameters) -> list[dict[str, Any]]:
        return self._ask(lambda side: side.records(query, parameters), nothing=[])

    def rows(self, query: LiteralString, parameters: Parameters) -> list[tuple[Any, ...]]:
        return self._ask(lambda side: side.rows(query, parameters), nothing=[])

    def _ask(self, call: Callable[[Watched], Result], *, nothing: object) -> Result:
        failure: TributaryError = Unavailable()
        for side in self.sides():
            try:
                result = call(side)
            except TributaryError as error:
                if may_answer_still(side, error):
                    failure = error if side.is_writer else failure
                    continue
                raise
            if side.is_writer or result != nothing:
                return result
        raise failure


def may_answer_still(side: Side, error: TributaryError) -> bool:
    """Tells whether the other database is to be asked after this one failed so."""
    return not side.is_writer or isinstance(error, Unavailable)
