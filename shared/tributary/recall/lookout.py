"""Waiting for a tribe's next tick: however many callers wait in this process, one of them looks for all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

LOOK_EVERY_S = 0.25
"""How often a tribe's clock is read while anybody waits for it, however many do. One look is a row by its key."""


@dataclass(kw_only=True)
class _Room:
    """Those who wait for one tribe. `changed` guards all of it; `clock` is what the last look saw."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    waiting: int = 0
    looking: bool = False
    clock: int = 0
    failures: int = 0


class Lookout:
    """Tells callers when a tribe's clock has gone on. Thread-safe; nobody holds a connection while waiting."""

    def __init__(self, look: Callable[[UUID], int]) -> None:
        """`look` reads the clock of a tribe; it is called by one thread a tribe at a time."""
        self._look = look
        self._lock = threading.Lock()
        self._rooms: dict[UUID, _Room] = {}

    def past(self, tribe_id: UUID, after: int, *, ends_at: float, stop: threading.Event) -> bool:
        """Waits until the clock went past `after` and returns True; False at the monotonic time `ends_at`, or once `stop` is set.

        Who looks for the others raises what `look` raises; the others are told False then, and learn why when they ask again.
        """
        room = self._enter(tribe_id)
        try:
            return self._waited(tribe_id, room, after, ends_at, stop)
        finally:
            self._leave(tribe_id, room)

    def _waited(self, tribe_id: UUID, room: _Room, after: int, ends_at: float, stop: threading.Event) -> bool:
        failures = room.failures
        while room.clock <= after and room.failures == failures and (left_s := ends_at - time.monotonic()) > 0:
            with room.changed:
                if room.looking:
                    room.changed.wait(min(LOOK_EVERY_S, left_s))
                    if stop.is_set():
                        return False
                    continue
                room.looking = True
            if not self._looked(tribe_id, room, min(LOOK_EVERY_S, left_s), stop):
                return False
        return room.clock > after

    def _looked(self, tribe_id: UUID, room: _Room, pause_s: float, stop: threading.Event) -> bool:
        """Looks once after a pause, for all; False when it is to stop. Whoever waits next takes the next look."""
        clock: int | None = None
        stopped = False
        try:
            stopped = stop.wait(pause_s)
            if not stopped:
                clock = self._look(tribe_id)
        finally:
            with room.changed:
                room.looking = False
                room.clock = room.clock if clock is None else max(room.clock, clock)
                room.failures += clock is None and not stopped
                room.changed.notify_all()
        return not stopped

    def _enter(self, tribe_id: UUID) -> _Room:
        with self._lock:
            room = self._rooms.setdefault(tribe_id, _Room())
            room.waiting += 1
            return room

    def _leave(self, tribe_id: UUID, room: _Room) -> None:
        with self._lock:
            room.waiting -= 1
            if not room.waiting:
                del self._rooms[tribe_id]
