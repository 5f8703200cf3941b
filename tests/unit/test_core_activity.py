"""Stretches of time, bins of latencies and their quantiles; and what is read out of a run of the evals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest

from tests.contract.stand_in_activity import RUN
from tributary.core.activity import BINS, BOUNDS_MS, Every, Latency, Window, bin_of
from tributary.core.evaluation import Confusion, Generation, Tiers

NOW = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
"""Half past eleven in the evening of February 28th, UTC."""
LAST = datetime(2026, 2, 28, 23, tzinfo=UTC)


@pytest.mark.parametrize(("hours", "every", "buckets"), [(1, "hour", 1), (24, "hour", 24), (72, "hour", 72), (73, "day", 4)])
def test_a_window_is_of_whole_hours_or_days_with_the_running_one(hours: int, every: str, buckets: int) -> None:
    window = Window.of(NOW, hours)
    assert (window.every, len(window.starts)) == (every, buckets)
    last = LAST if every == Every.HOUR else LAST.replace(hour=0)
    assert (window.starts[-1], window.end) == (last, last + window.every.length)
    assert window.since == last - window.every.length * (buckets - 1)


def test_a_month_is_told_by_days_and_begins_less_than_a_month_ago() -> None:
    window = Window.of(NOW, 744)
    assert len(window.starts) == 31
    assert NOW - window.since < timedelta(days=31)


def test_a_bin_begins_with_its_bound_and_the_last_has_no_end() -> None:
    assert [bin_of(ms) for ms in (0.0, 0.999, 1.0, 1.49, 70_000.0, 1e9)] == [0, 0, 1, 1, BINS - 1, BINS - 1]
    assert max(high / low for low, high in pairwise(BOUNDS_MS)) < 1.67


def test_quantiles_lie_where_calls_do_and_there_are_none_of_nothing() -> None:
    assert Latency().quantile_ms(0.5) is None
    one = Latency.of({bin_of(12.0): 1})
    assert one.quantile_ms(0.5) == pytest.approx(12.5)
    ten = Latency.of({bin_of(2.5): 9, bin_of(90_000.0): 1})
    assert (ten.calls, ten.quantile_ms(0.95)) == (10, BOUNDS_MS[-1])
    assert ten.quantile_ms(0.5) == pytest.approx(2 + 5 / 9)
    assert (ten.quantile_ms(0.0), ten.quantile_ms(0.9)) == (2.0, 3.0)


def test_a_runs_matrix_tiers_and_curve_are_read_from_its_figures_and_the_rest_are_metrics() -> None:
    labels, answers = ("same", "conflicts"), ("same", "conflicts", "unsure")
    assert RUN.confusion == Confusion(labels=labels, answers=answers, counts=((71, 0, 0), (0, 89, 8)))
    assert RUN.tiers == Tiers(pairs=168, settled_by_cheap=160, strong_calls=8)
    assert RUN.generations == (Generation(number=1, tasks=3, steps_with_memory=30.0, steps_without=31.5),)
    assert [one.metric for one in RUN.metrics] == ["test_accuracy"]
