"""Many at once: threads that each do something again and again for some seconds."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.figures import Samples


@dataclass(frozen=True, kw_only=True)
class Slice:
    """What was done in one slice of time, by all together."""

    seconds: float
    ms: Samples
    """Of each call that ended in time."""

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self.ms.values) / self.seconds


def slice_of(acts: Sequence[Callable[[], object]], seconds: float, *, begin: Callable[[], object] = lambda: None) -> Slice:
    """Has a thread for each of `acts` call it for `seconds`, after each has been called once, which opens connections.

    Where nobody was done by then, it goes on until somebody is. `begin` is called when they begin. What one of them raises is
    raised.
    """
    ready = threading.Barrier(len(acts) + 1)
    ended = threading.Event()
    taken: list[list[float]] = [[] for _ in acts]
    failed: list[BaseException] = []

    def work(act: Callable[[], object], mine: list[float]) -> None:
        try:
            act()
            ready.wait()
            while not ended.is_set():
                began = time.perf_counter()
                act()
                mine.append((time.perf_counter() - began) * 1000)
        except BaseException as error:  # raised again below
            failed.append(error)
            ended.set()
            ready.abort()

    threads = [threading.Thread(target=work, args=one) for one in zip(acts, taken, strict=True)]
    for thread in threads:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):  # the error that broke it is raised below
        ready.wait()
        begin()
    began = time.perf_counter()
    ended.wait(seconds)
    while not any(taken) and not ended.wait(0.05):
        pass
    values, took = [value for mine in taken for value in list(mine)], time.perf_counter() - began
    ended.set()
    for thread in threads:
        thread.join()
    if failed:
        raise next((error for error in failed if not isinstance(error, threading.BrokenBarrierError)), failed[0])
    return Slice(seconds=took, ms=Samples(values=values))
