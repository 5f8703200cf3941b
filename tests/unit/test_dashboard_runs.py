"""Runs of the evals beside each other: what became better or worse, and what only seems to have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tributary.contract.activity import Better, EvaluationReply, MetricReply
from tributary.edges.dashboard.charts import Unit
from tributary.edges.dashboard.telling.runs import Change, change, compared, histories, unit_of

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def metric(
    value: float,
    interval: tuple[float, float] | None = None,
    better: Better | None = "higher",
    *,
    name: str = "test_accuracy",
    suite: str = "classification",
) -> MetricReply:
    lower, upper = interval or (None, None)
    return MetricReply(suite=suite, metric=name, value=value, n=100, lower=lower, upper=upper, better=better)


def run(number: int, *metrics: MetricReply, **models: str | None) -> EvaluationReply:
    return EvaluationReply(
        run=f"run-{number}",
        at=AT + timedelta(days=number),
        commit=f"{number}" * 40,
        tier="offline",
        models=models,
        metrics=list(metrics),
        confusion=None,
        tiers=None,
        generations=[],
    )


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (metric(0.80, (0.71, 0.87)), metric(0.84, (0.76, 0.90)), Change.NOISE),
        (metric(0.80, (0.71, 0.87)), metric(0.95, (0.89, 0.98)), Change.BETTER),
        (metric(0.95, (0.89, 0.98)), metric(0.80, (0.71, 0.87)), Change.WORSE),
        # the intervals overlap, and still the difference has none around 0: 0.15 against sqrt(0.07^2 + 0.11^2) = 0.13
        (metric(0.70, (0.60, 0.81)), metric(0.85, (0.78, 0.90)), Change.BETTER),
        (metric(0.02, (0.0, 0.05), "lower"), metric(0.20, (0.13, 0.29), "lower"), Change.WORSE),
        (metric(31.0, None, "lower"), metric(29.0, None, "lower"), Change.BETTER),
        (metric(0.4, None, "nearer 0"), metric(-0.1, None, "nearer 0"), Change.BETTER),
        (metric(0.1, None, "nearer 0"), metric(-0.4, None, "nearer 0"), Change.WORSE),
        (metric(0.1, None, "nearer 0"), metric(-0.1, None, "nearer 0"), Change.SAME),
        (metric(1.0, None, None), metric(2.0, None, None), Change.HIGHER),
        (metric(2.0, None, None), metric(1.0, None, None), Change.LOWER),
        (metric(0.9, (0.8, 0.95)), metric(0.9, (0.8, 0.95)), Change.SAME),
        (None, metric(0.9), Change.NEW),
    ],
)
def test_a_change_is_said_in_words(before: MetricReply | None, now: MetricReply, said: Change) -> None:
    assert change(now, before) is said


def test_a_run_is_held_against_the_one_before_and_says_which_models_are_others() -> None:
    old = run(1, metric(0.95, (0.89, 0.98)), judge="rules/5", screen="rules/9", strong_judge=None)
    new = run(2, metric(0.80, (0.71, 0.87)), metric(0.5, name="test_new"), judge="rules/6", screen="rules/9", strong_judge=None)
    found = compared([new, old, run(0, metric(0.1, (0.05, 0.2)))])
    assert found.counts == {Change.WORSE: 1, Change.NEW: 1}
    assert list(found.counts) == [Change.WORSE, Change.NEW]
    assert found.replaced == {"judge": "rules/5"}
    assert compared([new]).counts == {Change.NEW: 2}
    assert compared([new]).replaced == {}


def test_a_history_has_both_splits_of_a_metric_and_a_gap_where_a_run_lacks_it() -> None:
    test, tune = metric(0.9, (0.8, 0.95)), metric(0.99, (0.97, 1.0), name="tune_accuracy")
    drawn = histories([run(3, test, tune), run(2, tune), run(1, test)], "classification")
    assert list(drawn) == ["accuracy"]
    assert drawn["accuracy"].table.heads == ["run", "test", "from", "to", "tune", "from", "to"]
    first, gap, last = drawn["accuracy"].table.rows
    assert first[0] == "111111111111, 2026-03-02 12:00 UTC"
    assert list(first[1:]) == ["90.0 %", "80.0 %", "95.0 %", None, None, None]
    assert list(gap[1:4]) == [None, None, None]
    assert last[4] == "99.0 %"


@pytest.mark.parametrize(
    ("one", "unit"),
    [
        (metric(0.9, (0.8, 0.95)), Unit.SHARE),
        (metric(3.0, name="cheap_ms"), Unit.MS),
        (metric(0.2, name="cheap_usd_of_1000"), Unit.USD),
        (metric(0.77, name="pearson"), Unit.NUMBER),
    ],
)
def test_only_a_share_is_told_in_percent(one: MetricReply, unit: Unit) -> None:
    assert unit_of(one) is unit
