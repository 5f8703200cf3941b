"""A gardener's run over several cells: each is tended on its own, and the report tells how each fared."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from tributary.core.cells import shown_cell
from tributary.core.errors import NotFound, TributaryError, Unavailable
from tributary.core.garden import GardenReport
from tributary.garden import BUDGET_S, Gardener, Stopped, never
from tributary.store import within
from tributary.telemetry import Event, log

SPARE_S = 5.0
"""What was begun in a cell's share of the time is finished in it."""
Tend = Callable[[Gardener, float | None], GardenReport]
"""Tends by one cell's gardener, for so many seconds."""


class CellsGardener:
    """Tends the tribes of several cells, one cell after another. One that fails keeps no other from being tended."""

    def __init__(self, names: Sequence[str | None], gardener: Callable[[str | None], Gardener]) -> None:
        self._names = names
        self._gardener = gardener

    def run_all(self, *, dry_run: bool = False, budget_s: float | None = BUDGET_S, stopped: Stopped = never) -> GardenReport:
        """Tends every tribe of every cell, each cell within its share of the time that is left.

        A database that hangs takes no more than `SPARE_S` beyond its cell's share, and nothing of the others' shares. The report
        tells which cells failed; raises the first one's error when none could be tended.
        """
        return self._run(lambda one, share: one.run_all(dry_run=dry_run, budget_s=share, stopped=stopped), dry_run, budget_s)

    def run_named(self, name: str, *, dry_run: bool = False, budget_s: float | None = BUDGET_S) -> GardenReport:
        """Tends the tribe of this name in each cell that has one, as `run_all` does; raises NotFound when none has."""
        report = self._run(lambda one, share: one.run_named(name, dry_run=dry_run, budget_s=share), dry_run, budget_s)
        return report.without(NotFound.code)

    def _run(self, tend: Tend, dry_run: bool, budget_s: float | None) -> GardenReport:
        ends_at = None if budget_s is None else time.monotonic() + budget_s
        found: list[tuple[str | None, GardenReport]] = []
        errors: list[Exception] = []
        for number, name in enumerate(self._names):
            share = None if ends_at is None else max(0.0, ends_at - time.monotonic()) / (len(self._names) - number)
            began = time.monotonic()
            with log.operation(cell=shown_cell(name)):
                try:
                    with within(math.inf if share is None else share + SPARE_S):
                        report = tend(self._gardener(name), share)
                except Exception as error:  # whatever it is, the other cells have nothing to do with it
                    errors.append(error)
                    ms = (time.monotonic() - began) * 1000
                    report = GardenReport(dry_run=dry_run, tribes=(), failed=_told(error), ms=ms)
            if ends_at is not None and share is not None and report.failed == Unavailable.code:
                ends_at += max(0.0, time.monotonic() - began - share)
            found.append((name, report))
        if len(errors) == len(self._names):
            raise next((one for one in errors if not isinstance(one, NotFound)), errors[0])
        return GardenReport.of_cells(found, dry_run=dry_run)


def _told(error: Exception) -> str:
    """Logs why a cell was not tended, unless it has no such tribe, and returns the code."""
    if not isinstance(error, TributaryError):
        log.event(Event.GARDEN_FAILED, level=log.ERROR, error=error, code="internal")
        return "internal"
    if not isinstance(error, NotFound):
        log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, code=error.code)
    return error.code
