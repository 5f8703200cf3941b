"""What the strong judge is worth: pairs judged by the cheap one alone, by both as a memory has them, by the strong one alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from evals.bench import Bench, Tier, evenly
from evals.figures import Measured, Metric, Sheet, share, skipped
from evals.purse import Spent
from evals.suites.classification import Judged, Pair, confusion_of, judge_all, load_pairs
from tributary.core.evaluation import Better
from tributary.core.ports import Judge

NAME = "tiering"
PAIRS = 120


def run(bench: Bench) -> Measured:
    """Sweeps the tiers over pairs of the split `test`, evenly by label."""
    models = bench.models
    if bench.tier is not Tier.LIVE:
        return skipped(NAME, "it is measured live only: offline there is one judge")
    tests = [pair for pair in load_pairs() if pair.split == "test"]
    pairs = evenly(tests, lambda pair: pair.label, bench.limit or PAIRS)
    ways: dict[str, Judge] = {"cheap": models.cheap_judge}
    if models.strong_judge is not None:
        ways |= {"tiered": models.judge, "strong": models.strong_judge}
    metrics: list[Metric] = []
    rows, confusions = [], []
    for way, judge in ways.items():
        judged, spent = _swept(bench, way, judge, pairs)
        if not judged:
            continue
        metrics += _metrics(way, judged, spent)
        confusions.append(confusion_of(judged, f"{way}: {judge.version}"))
        rows.append(_row(way, judge, judged, spent))
    heads = ("judges", "version", "accuracy", "escalated", "calls", "cost", "median ms a pair", "95th percentile")
    return Measured(
        suite=NAME,
        metrics=tuple(metrics),
        confusions=tuple(confusions),
        sheets=(Sheet(title="Tiers", heads=heads, rows=tuple(rows), numbers=2),),
        notes=() if models.strong_judge else ("No strong judge is set up, so there is one way only.",),
    )


def _swept(bench: Bench, way: str, judge: Judge, pairs: Sequence[Pair]) -> tuple[list[Judged], Spent]:
    before = bench.purse.spent()
    judged = judge_all(judge, bench.each(pairs, f"judging pairs: {way}"))
    return judged, bench.purse.spent().since(before)


def _metrics(way: str, judged: Sequence[Judged], spent: Spent) -> list[Metric]:
    n = len(judged)
    return [
        share(f"{way}_accuracy", sum(j.right for j in judged), n),
        share(f"{way}_escalated", sum(j.escalated for j in judged), n, better=Better.LOWER, tolerance=None),
        share(f"{way}_failed", sum(j.failed for j in judged), n, better=Better.LOWER, tolerance=0.0),
        Metric(name=f"{way}_usd_of_1000", value=1000 * float(spent.cost_usd) / n, n=n, better=Better.LOWER, tolerance=None),
        Metric(name=f"{way}_ms", value=statistics.median(j.ms for j in judged), n=n, better=Better.LOWER, tolerance=None),
    ]


def _row(way: str, judge: Judge, judged: Sequence[Judged], spent: Spent) -> tuple[str, ...]:
    times = sorted(j.ms for j in judged)
    unpriced = f" and {spent.unpriced} calls of unknown price" if spent.unpriced else ""
    return (
        way,
        judge.version,
        f"{sum(j.right for j in judged)} of {len(judged)}",
        f"{sum(j.escalated for j in judged)} of {len(judged)}",
        str(spent.calls),
        f"${spent.cost_usd:.4f}{unpriced}",
        f"{statistics.median(times):.1f}",
        f"{times[min(len(times) - 1, int(0.95 * len(times)))]:.1f}",
    )
