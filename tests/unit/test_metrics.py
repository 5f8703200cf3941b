"""The catalogue of metrics, and the tally that what is recorded goes into."""

from __future__ import annotations

import ast
import contextvars
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tributary
from tributary.telemetry import Metric, metrics
from tributary.telemetry.metrics import Measure

SOURCES = Path(tributary.__file__).parent
CLOUDWATCHS_UNITS = {"Count", "Milliseconds", "Seconds", "None"}
BESIDE_A_REQUEST = {"COLD_STARTS"}
"""Given to the meter by the entry point, before there is a tally."""


@cache
def recorded() -> list[tuple[str, str, bool]]:
    """Returns of each place that records: where, which member of the catalogue, and whether with a dimension's value."""
    return list(_recorded())


def _recorded() -> Iterator[tuple[str, str, bool]]:
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "metrics.record":
                name = ast.unparse(node.args[0]).removeprefix("Metric.")
                assert name in Metric.__members__, f"{path.name}:{node.lineno} records what is no member of the catalogue"
                yield f"{path.name}:{node.lineno}", name, "of" in {keyword.arg for keyword in node.keywords}


def test_every_metric_is_recorded_somewhere() -> None:
    assert {name for _, name, _ in recorded()} == set(Metric.__members__) - BESIDE_A_REQUEST


def test_a_metric_with_a_dimension_is_recorded_with_its_value_and_no_other() -> None:
    wrong = [place for place, name, of in recorded() if of != (Metric[name].dimension is not None)]
    assert wrong == []


def test_units_are_cloudwatchs_and_no_dimension_has_a_metrics_name() -> None:
    assert {metric.unit for metric in Metric} <= CLOUDWATCHS_UNITS
    assert not {metric.dimension for metric in Metric} & {*(metric.value for metric in Metric), "service", "_aws"}


def test_what_is_recorded_goes_into_the_tally_at_hand_and_nowhere_without_one() -> None:
    metrics.record(Metric.REPLANS)
    with metrics.tallied() as outer:
        metrics.record(Metric.LEARNED, 2, of="learned")
        with metrics.tallied() as inner:
            metrics.record(Metric.REPLANS, 3)
    metrics.record(Metric.REPLANS)
    assert outer.measures == [Measure(Metric.LEARNED, 2, "learned")]
    assert inner.measures == [Measure(Metric.REPLANS, 3)]


@pytest.mark.parametrize("copies", [True, False])
def test_a_thread_records_where_it_has_a_copy_of_the_context(copies: bool) -> None:
    with metrics.tallied() as tally:
        context = contextvars.copy_context() if copies else contextvars.Context()
        thread = threading.Thread(target=context.run, args=(metrics.record, Metric.REPLANS))
        thread.start()
        thread.join()
    assert len(tally.measures) == copies
