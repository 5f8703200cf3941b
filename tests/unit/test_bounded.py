"""Calls of foreign models end in time, and are tried again only where that may help."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tributary.core.errors import ModelFailed, ModelMalformed, ModelThrottled, ModelTimedOut, ModelUnreachable
from tributary.models.bounded import MOST_ABANDONED, Lane, bounded, left_s


class Time:
    """A clock that only waiting, and calls that say so, move on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class Script:
    """Raises or returns one after another, and keeps what time each attempt was given."""

    def __init__(self, time: Time, *steps: object, takes_s: float = 0.0) -> None:
        self._steps = list(steps)
        self._time = time
        self._takes_s = takes_s
        self.given: list[float] = []

    def __call__(self, remaining_s: float) -> object:
        self.given.append(remaining_s)
        self._time.now += self._takes_s
        step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def ask(script: Script, time: Time, *, timeout_s: float = 10.0, attempts: int = 3) -> object:
    return bounded(script, timeout_s=timeout_s, attempts=attempts, clock=time, sleep=time.sleep)


def test_an_answer_is_returned_and_the_time_left_handed_on() -> None:
    time = Time()
    script = Script(time, ModelThrottled(retry_after_s=4.0), "answer", takes_s=1.0)
    assert ask(script, time) == "answer"
    assert script.given == [10.0, 5.0]


def test_the_providers_own_reset_decides_how_long_is_waited() -> None:
    time = Time()
    assert ask(Script(time, ModelThrottled(retry_after_s=2.5), ModelThrottled(retry_after_s=0.0), "answer"), time) == "answer"
    assert time.waits == [2.5, 0.0]


@pytest.mark.parametrize("error", [ModelUnreachable(), ModelThrottled()])
def test_without_a_reset_each_wait_is_about_twice_the_last(error: ModelFailed) -> None:
    time = Time()
    assert ask(Script(time, error, error, error, "answer"), time, attempts=4) == "answer"
    assert all(low <= wait <= 2 * low for low, wait in zip((0.125, 0.25, 0.5), time.waits, strict=True))


def test_a_wait_that_would_outlast_the_time_is_not_begun() -> None:
    time = Time()
    with pytest.raises(ModelThrottled):
        ask(Script(time, ModelThrottled(retry_after_s=60.0)), time)
    assert time.waits == []


def test_attempts_come_to_an_end() -> None:
    time = Time()
    script = Script(time, *[ModelUnreachable("away")] * 5)
    with pytest.raises(ModelUnreachable, match="away"):
        ask(script, time)
    assert len(script.given) == 3


@pytest.mark.parametrize("error", [ModelFailed("no"), ModelMalformed("no"), ModelTimedOut("no"), ValueError("no")])
def test_what_another_attempt_would_not_mend_is_not_tried_again(error: Exception) -> None:
    time = Time()
    script = Script(time, error)
    with pytest.raises(type(error)):
        ask(script, time)
    assert len(script.given) == 1


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
def test_without_time_nothing_is_asked(timeout_s: float) -> None:
    time = Time()
    script = Script(time, "answer")
    with pytest.raises(ModelTimedOut):
        ask(script, time, timeout_s=timeout_s)
    assert script.given == []


def test_within_gives_back_what_the_call_does() -> None:
    lane = Lane()
    assert lane.within(10.0, lambda: "answer") == "answer"
    with pytest.raises(KeyError, match="missing"):
        lane.within(10.0, lambda: dict[str, str]()["missing"])


def test_whoever_waits_for_a_call_that_hangs_stops_waiting() -> None:
    hanging = threading.Event()
    try:
        with pytest.raises(ModelTimedOut):
            Lane().within(0.05, hanging.wait)
    finally:
        hanging.set()


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_begins_nothing(timeout_s: float) -> None:
    called: list[bool] = []
    with pytest.raises(ModelTimedOut):
        Lane().within(timeout_s, lambda: called.append(True))
    assert called == []


def test_a_call_knows_how_long_it_is_waited_for() -> None:
    assert 0.0 < Lane().within(10.0, left_s) <= 10.0
    assert left_s() == math.inf


def test_calls_that_somebody_waits_for_are_all_begun() -> None:
    """However many: whoever waits bounds them."""
    lane = Lane()
    together = threading.Barrier(MOST_ABANDONED * 3)
    with ThreadPoolExecutor(together.parties) as pool:
        waiting = [pool.submit(lane.within, 60.0, lambda: together.wait(60.0)) for _ in range(together.parties)]
        assert {one.result() for one in waiting} == set(range(together.parties))


def test_calls_that_hang_for_ever_do_not_pile_up_and_keep_nobody_from_another_lane() -> None:
    """Each costs a thread; past the limit the lane begins none, until some have ended."""
    lane, hanging, begun = Lane(), threading.Event(), list[bool]()
    try:
        for _ in range(MOST_ABANDONED):
            with pytest.raises(ModelTimedOut):
                lane.within(0.01, hanging.wait)
        with pytest.raises(ModelUnreachable, match="still hang"):
            lane.within(10.0, lambda: begun.append(True))
        assert begun == []
        assert Lane().within(10.0, lambda: "answer") == "answer"
    finally:
        hanging.set()
    for thread in threading.enumerate():
        if thread.name == "model-call":
            thread.join(10)
    for _ in range(MOST_ABANDONED + 1):
        assert lane.within(10.0, lambda: "answer") == "answer"
