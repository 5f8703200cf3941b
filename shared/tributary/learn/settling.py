"""Settling a tribe's pending lessons: page by page, each once, so that none that cannot be settled now keeps another waiting."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast
from uuid import UUID

from tributary.core.errors import InvalidRequest
from tributary.learn.turn import Turn
from tributary.store import Database, rows, statement

PAGE = 16
LEAST_S = 1.0
"""With less time than this left, no further lesson is begun."""
MOST_REMEMBERED = 10_000
_FIRST = UUID(int=0)

Pended = tuple[UUID, int]
"""A lesson, and the tick at which it was kept as pending: it may be more than once."""
One = Callable[[rows.Document, float | None], bool | None]
"""Settles a lesson within so many seconds: True, or False when that failed; None when somebody else had done it."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What came of a tribe's pending lessons. `failed` could not be settled now; `cut_short` tells that the time was over.

    `taken` tells that another settler is at them: nothing was tried.
    """

    done: int
    failed: int
    cut_short: bool
    taken: bool = False

    @property
    def none_left(self) -> bool:
        return not (self.failed or self.cut_short or self.taken)


class Stragglers:
    """Lessons that this process could not settle. They go last, so that a slow failure takes no other's time. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[Pended, None] = {}
        self._lock = threading.Lock()

    def __contains__(self, pended: Pended) -> bool:
        return pended in self._known

    def note(self, pended: Pended, *, failed: bool) -> None:
        with self._lock:
            self._known.pop(pended, None)
            if failed:
                self._known[pended] = None
            if len(self._known) > MOST_REMEMBERED:
                del self._known[next(iter(self._known))]


def settle_all(
    database: Database,
    tribe_id: UUID,
    settle: One,
    *,
    stragglers: Stragglers,
    deadline_s: float | None,
    stopped: Callable[[], bool],
    tried: set[Pended] | None = None,
) -> Settled:
    """Tries each pending lesson of a tribe once, oldest first, and those last that failed before in this process.

    Goes through them again for as long as a round settled something, since what is settled may let go of others. No time left
    is a deadline, too. Those in `tried` had their try; the set is added to, for whoever goes on later. One settler of a tribe at
    a time: another would only ask the models the same. Raises InvalidRequest for a deadline that is no number.
    """
    if deadline_s is not None and math.isnan(deadline_s):  # which no moment comes after
        raise InvalidRequest("deadline_s", "must be a number of seconds")
    until = math.inf if deadline_s is None else time.monotonic() + deadline_s
    tried = set() if tried is None else tried
    turn = Turn(database, tribe_id, share_s=deadline_s)
    done = 0
    while taken := turn.take():
        had_their_try = len(tried)
        with turn:
            found = _rounds(
                database,
                tribe_id,
                settle,
                stragglers=stragglers,
                until=until,
                stopped=lambda: stopped() or not turn.keep(),
                tried=tried,
            )
        done += found.done
        if not found.none_left or len(tried) == had_their_try:
            return replace(found, done=done)
        # once more: whoever came with a lesson while the turn was about to end has found it taken
    return Settled(done=done, failed=0, cut_short=False, taken=taken is False)


def _rounds(
    database: Database,
    tribe_id: UUID,
    settle: One,
    *,
    stragglers: Stragglers,
    until: float,
    stopped: Callable[[], bool],
    tried: set[Pended],
) -> Settled:
    done = failed = 0
    while True:
        before = done
        for last in (False, True):
            for pended, one in _pending(database, tribe_id):
                if pended in tried or (pended in stragglers) is not last:
                    continue
                left_s = until - time.monotonic()
                if left_s < LEAST_S or stopped():
                    return Settled(done=done, failed=failed, cut_short=True)
                tried.add(pended)
                came_to = settle(one, None if math.isinf(left_s) else left_s)
                done += came_to is True
                failed += came_to is False
                stragglers.note(pended, failed=came_to is False)
        if done == before:
            return Settled(done=done, failed=failed, cut_short=False)


def _pending(database: Database, tribe_id: UUID) -> Iterator[tuple[Pended, rows.Document]]:
    after = _FIRST
    while True:
        parameters = {"tribe_id": tribe_id, "after": after, "limit": PAGE}
        page = cast(list[rows.Document], database.value(statement("learn", "pending"), parameters))
        for one in page:
            after = UUID(one["lesson"]["lesson_id"])
            yield (after, one["since"]), one
        if len(page) < PAGE:
            return
