"""A gardener's run over several cells: each is tended on its own, and the report tells how each fared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tributary.core.cells import shown_cell
from tributary.core.errors import NotFound, TributaryError
from tributary.core.garden import GardenReport
from tributary.garden import BUDGET_S, Gardener, Stopped, never
from tributary.telemetry import Event, log

Tend = Callable[[Gardener, float | None], GardenReport]
"""Tends by one cell's gardener, for so many seconds."""


class CellsGardener:
    """Tends the tribes of several cells, one cell after another. One that fails keeps no other from being tended."""

    def __init__(self, names: Sequence[str | None], gardener: Callable[[str | None], Gardener]) -> None:
        self._names = names
        self._gardener = gardener

    def run_all(self, *, dry_run: bool = False, budget_s: float | None = BUDGET_S, stopped: Stopped = never) -> GardenReport:
        """Tends every tribe of every cell, each cell within its share of the time that is left; raises nothing of a cell's."""
        return self._run(lambda one, share: one.run_all(dry_run=dry_run, budget_s=share, stopped=stopped), dry_run, budget_s)

    def run_named(self, name: str, *, dry_run: bool = False, budget_s: float | None = BUDGET_S) -> GardenReport:
        """Tends the tribe of this name in each cell that has one; raises NotFound when each was asked and none has."""
        report = self._run(lambda one, share: one.run_named(name, dry_run=dry_run, budget_s=share), dry_run, budget_s)
        if all(one.failed == NotFound.code for one in report.cells):
            raise NotFound(f"there is no tribe named '{name}' in any cell")
        return report.without(NotFound.code)

    def _run(self, tend: Tend, dry_run: bool, budget_s: float | None) -> GardenReport:
        ends_at = None if budget_s is None else time.monotonic() + budget_s
        found = []
        for number, name in enumerate(self._names):
            share = None if ends_at is None else max(0.0, ends_at - time.monotonic()) / (len(self._names) - number)
            with log.operation(cell=shown_cell(name)):
                found.append((name, self._tended(name, tend, share, dry_run=dry_run)))
        return GardenReport.of_cells(found, dry_run=dry_run)

    def _tended(self, name: str | None, tend: Tend, share: float | None, *, dry_run: bool) -> GardenReport:
        began = time.monotonic()
        try:
            return tend(self._gardener(name), share)
        except NotFound as error:
            failed = error.code
        except TributaryError as error:
            failed = error.code
            log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, code=failed)
        except Exception as error:  # whatever it is, the other cells have nothing to do with it
            failed = "internal"
            log.event(Event.GARDEN_FAILED, level=log.ERROR, error=error, code=failed)
        return GardenReport(dry_run=dry_run, tribes=(), failed=failed, ms=(time.monotonic() - began) * 1000)
