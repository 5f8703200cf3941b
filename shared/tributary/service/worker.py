"""The worker beside a running server: it settles pending lessons every second, hands over counts, and gardens now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from tributary.core.errors import TributaryError
from tributary.garden import BUDGET_S, OUTGROWN
from tributary.service.cells import Cells
from tributary.service.memory import Memory
from tributary.telemetry import Event, log

SETTLE_EVERY_S = 1.0
COUNT_EVERY_S = 5.0
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
    tried again with the next one.
    """
    with ExitStack() as beats:
        beats.enter_context(settling(memory, every_s=settle_every_s))
        beats.enter_context(_beat("counting", memory, COUNT_EVERY_S, _hand_over))
        if garden_every_s:
            beats.enter_context(_beat("gardening", memory, garden_every_s, partial(_garden, build_index)))
        yield


@contextmanager
def tending_cells(
    cells: Cells, *, garden_every_s: float, build_index: Callable[[str | None, str], object] = lambda _cell, _tribe: None
) -> Iterator[None]:
    """Tends each cell as `tending` does, on threads of its own: one that hangs keeps no other waiting.

    `build_index` is called with the names of cell and tribe.
    """
    with ExitStack() as tended:
        for name in cells.names:
            build = partial(build_index, name)
            tended.enter_context(tending(cells.named(name), garden_every_s=garden_every_s, build_index=build))
        yield


@contextmanager
def settling(memory: Memory, *, every_s: float = SETTLE_EVERY_S) -> Iterator[None]:
    """Settles pending lessons every `every_s` seconds until the block ends: nothing pending is ever given up."""
    with _beat("settling", memory, every_s, _settle):
        yield


def _settle(memory: Memory, _stop: threading.Event) -> None:
    try:
        memory.settle_pending()
    except TributaryError as error:
        log.event(Event.SETTLE_FAILED, level=log.WARNING, error=error, code=error.code)
    except Exception as error:  # a worker that died in silence would leave lessons pending for good
        log.event(Event.SETTLE_FAILED, level=log.ERROR, error=error, code="internal")


def _hand_over(memory: Memory, _stop: threading.Event) -> None:
    memory.usage.flush()
    memory.ledger.flush()


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


@contextmanager
def _beat(name: str, memory: Memory, every_s: float, work: Round) -> Iterator[None]:
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(every_s):
            with log.operation(cell=memory.cell):
                work(memory, stop)

    thread = threading.Thread(target=beat, name=f"tributary-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
