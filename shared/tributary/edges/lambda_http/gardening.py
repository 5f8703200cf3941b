"""The gardener as a function: its time is the function's, its report the answer, its counts metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tributary.edges.lambda_http.metrics import Meter
from tributary.edges.lambda_http.port import Context
from tributary.edges.lambda_http.reply import Measure

if TYPE_CHECKING:
    from tributary.core.garden import GardenReport
    from tributary.garden import Gardener
    from tributary.service.cell_gardening import CellsGardener

MARGIN_S = 5.0
"""Kept back of the function's time: what was begun is finished in it, and the report sent."""


def tended(gardener: Gardener | CellsGardener, context: Context, *, meter: Meter) -> dict[str, Any]:
    """Tends every tribe and returns the report as JSON."""
    budget_s = max(0.0, context.get_remaining_time_in_millis() / 1000 - MARGIN_S)
    report = gardener.run_all(budget_s=budget_s)
    meter(tuple(_measures(report)))
    return report.document()


def _measures(report: GardenReport) -> Iterator[Measure]:
    yield Measure(name="GardenLatency", value=report.ms, unit="Milliseconds")
    for rule in report.total:
        failed = sum(tribe.rule(rule.rule).failed is not None for tribe in report.tribes)
        dimensions = {"rule": rule.rule.value}
        yield Measure(name="GardenDone", value=rule.done, dimensions=dimensions)
        yield Measure(name="GardenLeft", value=rule.left, dimensions=dimensions)
        yield Measure(name="GardenRefused", value=sum(rule.refused.values()), dimensions=dimensions)
        yield Measure(name="GardenFailed", value=failed, dimensions=dimensions)
