"""How good the judge, the screen and the search are, by the evals that were kept; and how fast the memory is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tributary.client import Memory
from tributary.contract.activity import ActivityReply, ConfusionReply, EvaluationReply, GenerationReply, TiersReply
from tributary.edges.dashboard.charts import Chart, Series, Unit, lines, matrix
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.telling.runs import Compared, compared, histories, named, short, unit_of
from tributary.edges.dashboard.telling.windows import WINDOWS, latency, window
from tributary.edges.dashboard.visit import Visit

RUNS = 20
"""So many runs are read, the newest."""
SHOWN = 12
"""So many of these a chart shows, those of one tier."""
DRAWN = 4
"""So many of a suite's metrics are drawn when none is chosen."""
_FIRST = "classification"
"""The suite that is shown when none is chosen and no metric became worse."""
RECORD = "python -m evals.run --tier offline --record postgresql://owner@db.example/tributary"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is looked at, as far as there is such a thing."""

    tier: str
    suite: str
    group: str | None
    hours: int

    def to(self, **other: str) -> Mapping[str, str]:
        """Returns the query of this page with something else in it."""
        return {"tier": self.tier, "suite": self.suite, "hours": str(self.hours), **other}


def _quality(visit: Visit) -> Shown:
    hours = window(visit)
    activity = visit.memory.activity(hours=hours)
    runs = _runs(visit.memory, public=visit.visitor.public)
    values: dict[str, object] = {"runs": runs, "record": RECORD, "windows": WINDOWS, "hours": hours, **_speed(activity)}
    if runs:
        values |= _found(visit, runs, hours)
    return Shown(template="quality.html", values=values)


def _runs(memory: Memory, *, public: bool) -> Sequence[EvaluationReply]:
    """Returns the newest runs that found something; the public is told of no costs."""
    runs = memory.evaluations(limit=RUNS)
    if public:
        runs = [run.model_copy(update={"metrics": [one for one in run.metrics if unit_of(one) is not Unit.USD]}) for run in runs]
    return [run for run in runs if run.metrics]


def _found(visit: Visit, runs: Sequence[EvaluationReply], hours: int) -> Mapping[str, object]:
    tiers = list(dict.fromkeys(run.tier for run in runs))
    tier = next((one for one in tiers if one == visit.asked("tier")), tiers[0])
    of_tier = [run for run in runs if run.tier == tier]
    beside = compared(of_tier)
    worse = _worse(beside)
    wanted = (visit.asked("suite"), *(suite for suite, _, _ in worse), _FIRST, beside.suites[0])
    suite = next(one for one in wanted if one in beside.suites)
    drawn = histories(of_tier[:SHOWN], suite)
    group = next((one for one in drawn if one == visit.asked("metric")), None)
    return {
        "asked": Asked(tier=tier, suite=suite, group=group, hours=hours),
        "tiers": {one: one for one in tiers},
        "suites": {one: one for one in beside.suites},
        "beside": beside,
        "rows": [row for row in beside.rows if row.now.suite == suite],
        "worse": worse,
        "history": [drawn[group]] if group else list(drawn.values())[:DRAWN],
        "left_out": 0 if group else max(0, len(drawn) - DRAWN),
        **_judge(of_tier),
    }


def _worse(beside: Compared) -> Sequence[tuple[str, str, str]]:
    return [(row.now.suite, row.now.metric, row.group) for row in beside.rows if row.change == "worse"]


def _judge(runs: Sequence[EvaluationReply]) -> Mapping[str, object]:
    """Returns the judge's matrix, the tiers and the generations, each of the newest run that has it."""
    confused = next(((run, run.confusion) for run in runs if run.confusion is not None), None)
    tiered = [(run, run.tiers) for run in runs[:SHOWN] if run.tiers is not None and run.tiers.pairs]
    curve = next(((run, run.generations) for run in runs if run.generations), None)
    return {
        "confusion": confused and (confused[0], _matrix(confused[1])),
        "tiering": (*tiered[0], _tiering(list(reversed(tiered)))) if tiered else None,
        "curve": curve and (curve[0], _curve(curve[1])),
    }


def _matrix(found: ConfusionReply) -> Chart:
    return matrix(found.labels, found.answers, found.counts, label="Answers to labelled pairs (split test)")


def _tiering(found: Sequence[tuple[EvaluationReply, TiersReply]]) -> Chart:
    settled = Series(name="settled by the first judge", values=[one.settled_by_cheap / one.pairs for _, one in found])
    asked = Series(name="strong judge asked as well", values=[one.strong_calls / one.pairs for _, one in found])
    runs = [run for run, _ in found]
    return lines(
        [short(run) for run in runs],
        [settled, asked],
        label="Share of labelled pairs, over runs",
        unit=Unit.SHARE,
        of="run",
        rows=[named(run) for run in runs],
    )


def _curve(found: Sequence[GenerationReply]) -> Chart:
    return lines(
        [str(one.number) for one in found],
        [
            Series(name="with the memory of those before", values=[one.steps_with_memory for one in found]),
            Series(name="without any", values=[one.steps_without for one in found]),
        ],
        label="Steps a task takes, by generation of fresh agents",
        of="generation",
    )


def _speed(activity: ActivityReply) -> Mapping[str, object]:
    return {
        "speeds": (("recall", activity.recall), ("learn", activity.learn)),
        "speed_charts": (
            latency(activity.recall, label="How long recalls took"),
            latency(activity.learn, label="How long learns took"),
        ),
    }


PAGES = (Page(path="/quality", title="Quality", answer=_quality, public=True),)
