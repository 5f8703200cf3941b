"""What runs of the evals say beside each other: which metric became better or worse, and which only seems to have. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from tributary.contract.activity import EvaluationReply, MetricReply
from tributary.edges.dashboard.charts import Chart, Series, Unit, lines

_SPLITS = ("test", "tune")


class Change(StrEnum):
    """How a metric stands beside the one of the run before."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    NOISE = "within noise"
    SAME = "the same"
    NEW = "new"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A metric of a run beside the same one of the newest run before that has it."""

    now: MetricReply
    before: MetricReply | None
    change: Change
    unit: Unit
    group: str
    """What its history is asked for by."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A run beside the run before it; `models` holds those that another took the place of, with that other."""

    run: EvaluationReply
    before: EvaluationReply | None
    rows: Sequence[Row]
    replaced: Mapping[str, str | None]

    @property
    def counts(self) -> Mapping[Change, int]:
        """How many metrics changed how, the worst first; what did not occur is left out."""
        order = (Change.WORSE, Change.BETTER, Change.LOWER, Change.HIGHER, Change.NOISE, Change.SAME, Change.NEW)
        found = {change: sum(row.change is change for row in self.rows) for change in order}
        return {change: count for change, count in found.items() if count}

    @property
    def suites(self) -> Sequence[str]:
        return tuple(dict.fromkeys(row.now.suite for row in self.rows))


def compared(runs: Sequence[EvaluationReply]) -> Compared:
    """Returns the first of the runs (newest first, of one tier) beside the next one, metric by metric."""
    run, before = runs[0], runs[1] if len(runs) > 1 else None
    old = {(one.suite, one.metric): one for one in before.metrics} if before else {}
    rows = []
    for now in run.metrics:
        earlier = old.get((now.suite, now.metric))
        rows.append(Row(now=now, before=earlier, change=change(now, earlier), unit=unit_of(now), group=_split(now.metric)[1]))
    earlier_models = before.models if before else run.models
    parts = sorted({*run.models, *earlier_models})
    replaced = {part: earlier_models.get(part) for part in parts if earlier_models.get(part) != run.models.get(part)}
    return Compared(run=run, before=before, rows=rows, replaced=replaced)


def change(now: MetricReply, before: MetricReply | None) -> Change:
    """Returns how a metric changed. Shares whose difference has an interval around 0 (95 %) differ within noise.

    The interval is R. G. Newcombe's (Statistics in Medicine 17, 1998, method 10), of the intervals of both. Runs that share
    their cases differ less by chance than it supposes, so what it calls better or worse is.
    """
    if before is None:
        return Change.NEW
    if now.value == before.value:
        return Change.SAME
    if _is_noise(now, before):
        return Change.NOISE
    if now.better is None:
        return Change.HIGHER if now.value > before.value else Change.LOWER
    gain = now.value - before.value
    match now.better:
        case "lower":
            gain = -gain
        case "nearer 0":
            gain = abs(before.value) - abs(now.value)
    if gain == 0:
        return Change.SAME
    return Change.BETTER if gain > 0 else Change.WORSE


def unit_of(metric: MetricReply) -> Unit:
    """Returns what a metric counts: only shares have an interval; of others the name tells."""
    if metric.lower is not None:
        return Unit.SHARE
    if metric.metric.endswith("_ms"):
        return Unit.MS
    return Unit.USD if "_usd" in metric.metric else Unit.NUMBER


def histories(runs: Sequence[EvaluationReply], suite: str) -> Mapping[str, Chart]:
    """Returns the metrics of a suite over runs (newest first), those of the splits test and tune in one chart."""
    latest = [one for one in runs[0].metrics if one.suite == suite]
    ordered = list(reversed(runs))
    found = [{one.metric: one for one in run.metrics if one.suite == suite} for run in ordered]
    groups: dict[str, list[MetricReply]] = {}
    for one in latest:
        groups.setdefault(_split(one.metric)[1], []).append(one)
    return {
        name: lines(
            [short(run) for run in ordered],
            [_series(one, [run.get(one.metric) for run in found]) for one in metrics],
            label=name.replace("_", " "),
            unit=unit_of(metrics[0]),
            of="run",
            rows=[named(run) for run in ordered],
            fit=True,
        )
        for name, metrics in groups.items()
    }


def short(run: EvaluationReply) -> str:
    """Returns the commit of a run as an axis shows it."""
    return run.commit[:7]


def named(run: EvaluationReply) -> str:
    """Returns what a table calls a run: two may be of one commit."""
    return f"{run.commit[:12]}, {run.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _series(metric: MetricReply, found: Sequence[MetricReply | None]) -> Series:
    with_interval = metric.lower is not None
    return Series(
        name=_split(metric.metric)[0] or metric.metric,
        values=[None if one is None else one.value for one in found],
        lower=[None if one is None else one.lower for one in found] if with_interval else (),
        upper=[None if one is None else one.upper for one in found] if with_interval else (),
    )


def _split(metric: str) -> tuple[str, str]:
    """Returns the split that a metric is of, empty for none, and its name without it."""
    first, _, rest = metric.partition("_")
    return (first, rest) if first in _SPLITS and rest else ("", metric)


def _is_noise(now: MetricReply, before: MetricReply) -> bool:
    if now.lower is None or now.upper is None or before.lower is None or before.upper is None:
        return False
    gap = abs(now.value - before.value)
    more, less = (now, before) if now.value > before.value else (before, now)
    down, up = more.value - (more.lower or 0.0), (less.upper or 0.0) - less.value
    return gap <= math.hypot(down, up)
