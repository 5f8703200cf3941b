"""The gardener as a function: its time is the function's, its report the answer, its counts metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tributary.edges.lambda_http.port import Context
from tributary.telemetry import Metric, metrics

if TYPE_CHECKING:
    from tributary.core.garden import GardenReport
    from tributary.garden import Gardener
    from tributary.service.cell_gardening import CellsGardener

MARGIN_S = 5.0
"""Kept back of the function's time: what was begun is finished in it, and the report sent."""


def tended(gardener: Gardener | CellsGardener, context: Context) -> dict[str, Any]:
    """Tends every tribe and returns the report as JSON; records what it came to."""
    budget_s = max(0.0, context.get_remaining_time_in_millis() / 1000 - MARGIN_S)
    report = gardener.run_all(budget_s=budget_s)
    _record(report)
    return report.document()


def _record(report: GardenReport) -> None:
    metrics.record(Metric.GARDEN_LATENCY, report.ms)
    metrics.record(Metric.GARDEN_WAITING, report.waiting)
    for rule in report.total:
        failed = sum(tribe.rule(rule.rule).failed is not None for tribe in report.tribes)
        name = rule.rule.value
        metrics.record(Metric.GARDEN_DONE, rule.done, of=name)
        metrics.record(Metric.GARDEN_LEFT, rule.left, of=name)
        metrics.record(Metric.GARDEN_REFUSED, sum(rule.refused.values()), of=name)
        metrics.record(Metric.GARDEN_FAILED, failed, of=name)
    # what ended before its first rule
    metrics.record(Metric.GARDEN_FAILED, sum(tribe.failed is not None and not tribe.rules for tribe in report.tribes), of="none")
    stands = report.backlog
    metrics.record(Metric.LESSONS_PENDING, stands.pending)
    metrics.record(Metric.LESSONS_QUARANTINED, stands.quarantined)
    metrics.record(Metric.DISPUTES_OPEN, stands.disputes)
    metrics.record(Metric.OLDEST_DISPUTE, stands.oldest_dispute_s)
    metrics.record(Metric.CHALLENGES_OPEN, stands.challenges)
    metrics.record(Metric.CLOCK_AHEAD, stands.clock_ahead_s)
    metrics.record(Metric.ACTIONS_IN_DOUBT, stands.in_doubt)
