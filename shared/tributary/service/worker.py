"""The worker beside a running server: it settles pending lessons every second, hands over counts, and gardens now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from tributary.core.errors import TributaryError
from tributary.garden import BUDGET_S, OUTGROWN
from tributary.service.cells import Cells
from tributary.service.memory import Memory
from tributary.telemetry import Event, log

SETTLE_EVERY_S = 1.0
COUNT_EVERY_S = 5.0
ENDING_S = 5.0
"""For all that was begun together. What takes longer, as on a database that hangs, ends with the process: it may be cut off."""
Round = Callable[[Memory, threading.Event], None]
"""What is done at each beat; the event is set when the worker is to end."""


@contextmanager
def tending(
    memory: Memory,
    *,
    settle_every_s: float = SETTLE_EVERY_S,
    garden_every_s: float,
    build_index: Callable[[str], object] = lambda _tribe: None,
) -> Iterator[None]:
    """Settles, hands over counts and gardens until the block ends; `garden_every_s` 0 never gardens.

    `build_index` is called with the name of a tribe that the gardener found to have outgrown exact search: that takes the
    owner's rights.
    Each beat has a thread of its own: a long run of the gardener keeps no pending lesson waiting. A failing round is logged and
    tried again with the next one. Leaving the block begins nothing new, and waits `ENDING_S` at most for what was begun.
    """
    with _beating() as beats:
        _tend(beats, memory, settle_every_s=settle_every_s, garden_every_s=garden_every_s, build_index=build_index)
        yield


@contextmanager
def tending_cells(
    cells: Cells, *, garden_every_s: float, build_index: Callable[[str | None, str], object] = lambda _cell, _tribe: None
) -> Iterator[None]:
    """Tends each cell as `tending` does, on threads of its own: one that hangs keeps no other waiting.

    `build_index` is called with the names of cell and tribe.
    """
    with _beating() as beats:
        for name in cells.names:
            build = partial(build_index, name)
            _tend(beats, cells.named(name), settle_every_s=SETTLE_EVERY_S, garden_every_s=garden_every_s, build_index=build)
        yield


@contextmanager
def settling(memory: Memory, *, every_s: float = SETTLE_EVERY_S) -> Iterator[None]:
    """Settles pending lessons every `every_s` seconds until the block ends: nothing pending is ever given up."""
    with _beating() as beats:
        beats.start("settling", memory, every_s, _settle)
        yield


@contextmanager
def counting_cells(cells: Cells) -> Iterator[None]:
    """Hands over what was counted until the block ends, and does nothing else: for a server beside those that tend."""
    with _beating() as beats:
        for name in cells.names:
            beats.start("counting", cells.named(name), COUNT_EVERY_S, _hand_over)
        yield


def _tend(
    beats: _Beats, memory: Memory, *, settle_every_s: float, garden_every_s: float, build_index: Callable[[str], object]
) -> None:
    beats.start("settling", memory, settle_every_s, _settle)
    beats.start("counting", memory, COUNT_EVERY_S, _hand_over)
    if garden_every_s:
        beats.start("gardening", memory, garden_every_s, partial(_garden, build_index))


def _settle(memory: Memory, stop: threading.Event) -> None:
    try:
        memory.settle_pending(stopped=stop.is_set)
    except TributaryError as error:
        log.event(Event.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code)
    except Exception as error:  # a worker that died in silence would leave lessons pending for good
        log.event(Event.SETTLE_FAILED, level=log.ERROR, error=error, code="internal")


def _hand_over(memory: Memory, _stop: threading.Event) -> None:
    for book in memory.books:
        book.flush()


def _garden(build_index: Callable[[str], object], memory: Memory, stop: threading.Event) -> None:
    try:
        report = memory.gardener.run_all(budget_s=BUDGET_S, stopped=stop.is_set)
        for tribe in report.tribes:
            if any(OUTGROWN in rule.refused for rule in tribe.rules) and not stop.is_set():
                build_index(tribe.name)
    except TributaryError as error:
        log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, code=error.code)
    except Exception as error:
        log.event(Event.GARDEN_FAILED, level=log.ERROR, error=error, code="internal")


class _Beats:
    """Threads that do their work again and again, until all are told to stop at once."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, name: str, memory: Memory, every_s: float, work: Round) -> None:
        def beat() -> None:
            while not self._stop.wait(every_s):
                with log.operation(cell=memory.cell):
                    work(memory, self._stop)

        thread = threading.Thread(target=beat, name=f"tributary-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        self._stop.set()
        until = time.monotonic() + ENDING_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        left = sorted({thread.name for thread in self._threads if thread.is_alive()})
        if left:
            log.event(Event.SERVICE_LEFT, level=log.WARNING, threads=", ".join(left))


@contextmanager
def _beating() -> Iterator[_Beats]:
    beats = _Beats()
    try:
        yield beats
    finally:
        beats.end()
