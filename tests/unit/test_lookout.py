"""Waiting for a tick: one look for all who wait, nobody overlooked, and nobody left behind when whoever looked goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tributary.core.errors import Unavailable
from tributary.recall.lookout import Lookout

TRIBE, OTHER = UUID(int=1), UUID(int=2)
LONG_S = 30.0


class Clock:
    """A tribe's clock that counts who reads it, and how many do at once."""

    def __init__(self, tick: int = 7) -> None:
        self.tick = tick
        self.looks = 0
        self.at_once = 0
        self.most_at_once = 0
        self.on_look: Callable[[], object] = lambda: None
        self._lock = threading.Lock()

    def __call__(self, tribe_id: UUID) -> int:
        with self._lock:
            self.looks += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.on_look()
            return self.tick if tribe_id == TRIBE else 0
        finally:
            with self._lock:
                self.at_once -= 1


def wait(lookout: Lookout, after: int = 7, *, lasts_s: float = LONG_S, stop: threading.Event | None = None) -> bool:
    return lookout.past(TRIBE, after, ends_at=time.monotonic() + lasts_s, stop=stop or threading.Event())


def all_wait(lookout: Lookout, count: int) -> None:
    while (room := lookout._rooms.get(TRIBE)) is None or room.waiting < count:
        time.sleep(0.005)


def test_many_who_wait_have_the_clock_read_once_for_all() -> None:
    clock = Clock()
    lookout = Lookout(clock)
    with ThreadPoolExecutor(max_workers=50) as pool:
        found = [pool.submit(wait, lookout) for _ in range(50)]
        all_wait(lookout, 50)
        before = clock.looks
        clock.tick = 8
        assert all(one.result(LONG_S) for one in found)
    assert clock.most_at_once == 1
    assert clock.looks <= before + 2, "each of them looked for itself"
    assert lookout._rooms == {}


def test_who_waits_goes_on_being_told_when_the_one_who_looked_went_away() -> None:
    clock = Clock()
    lookout = Lookout(clock)
    with ThreadPoolExecutor(max_workers=2) as pool:
        soon = pool.submit(wait, lookout, lasts_s=0.05)
        all_wait(lookout, 1)
        later = pool.submit(wait, lookout)
        assert soon.result(LONG_S) is False
        clock.tick = 8
        assert later.result(LONG_S) is True


def test_a_look_that_fails_is_the_lookers_failure_and_sends_the_others_to_ask_again() -> None:
    clock = Clock()
    lookout = Lookout(clock)

    def fail() -> None:
        all_wait(lookout, 5)
        raise Unavailable("away")

    clock.on_look = fail
    with ThreadPoolExecutor(max_workers=5) as pool:
        found = [pool.submit(wait, lookout) for _ in range(5)]
        told = [one.exception(LONG_S) or one.result() for one in found]
    assert clock.looks == 1
    assert sorted(type(one).__name__ for one in told) == ["Unavailable", *["bool"] * 4]
    assert True not in told
    clock.on_look = lambda: setattr(clock, "tick", 9)
    assert wait(lookout) is True, "it looks again after a failure"


def test_all_who_wait_are_let_go_when_the_server_ends() -> None:
    clock, stop = Clock(), threading.Event()
    lookout = Lookout(clock)
    with ThreadPoolExecutor(max_workers=5) as pool:
        found = [pool.submit(wait, lookout, stop=stop) for _ in range(5)]
        all_wait(lookout, 5)
        stop.set()
        assert [one.result(LONG_S) for one in found] == [False] * 5


def test_tribes_are_waited_for_apart_and_time_that_is_over_looks_at_nothing() -> None:
    clock = Clock()
    lookout = Lookout(clock)
    assert wait(lookout, lasts_s=0.0) is False
    assert clock.looks == 0
    clock.tick = 8
    with ThreadPoolExecutor(max_workers=2) as pool:
        other = pool.submit(lookout.past, OTHER, 7, ends_at=time.monotonic() + 0.6, stop=threading.Event())
        assert wait(lookout) is True
        assert other.result(LONG_S) is False


@pytest.mark.parametrize("after", [8, 9])
def test_a_tick_that_was_seen_already_is_no_news(after: int) -> None:
    assert wait(Lookout(Clock(8)), after, lasts_s=0.3) is False
