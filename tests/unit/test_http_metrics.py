"""Metrics in CloudWatch's embedded format: on Lambda, on stdout, and nowhere else."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from decimal import Decimal
from io import StringIO
from types import FrameType
from typing import Any

import pytest

from tests.metrics import emitted
from tributary.edges.lambda_http.metrics import MOST_VALUES, embedded_metrics, meter_for, metered, no_metrics
from tributary.telemetry import Metric, metrics
from tributary.telemetry.metrics import Measure

LAMBDA = {"AWS_LAMBDA_FUNCTION_NAME": "tributary-learn"}


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_figures_of_one_request_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    embedded_metrics("learn")(
        [
            Measure(Metric.LEARNED, 1, "superseded"),
            Measure(Metric.GATE_WAIT, 0.5),
            Measure(Metric.REPLANS, 2),
            Measure(Metric.LATENCY, 12.5, "learn"),
        ]
    )
    (line,) = printed(capsys)
    assert {name: line[name] for name in ("service", "outcome", "operation")} == {
        "service": "learn",
        "outcome": "superseded",
        "operation": "learn",
    }
    assert {name: line[name] for name in ("Learned", "GateWait", "Replans", "Latency")} == {
        "Learned": 1,
        "GateWait": 0.5,
        "Replans": 2,
        "Latency": 12.5,
    }
    directives = line["_aws"]["CloudWatchMetrics"]
    assert {one["Namespace"] for one in directives} == {"Tributary"}
    assert {tuple(one["Dimensions"][0]): [metric["Name"] for metric in one["Metrics"]] for one in directives} == {
        ("service", "outcome"): ["Learned"],
        ("service",): ["GateWait", "Replans"],
        ("service", "operation"): ["Latency"],
    }
    assert {metric["Name"]: metric["Unit"] for one in directives for metric in one["Metrics"]} == {
        "Learned": "Count",
        "GateWait": "Milliseconds",
        "Replans": "Count",
        "Latency": "Milliseconds",
    }


def test_counts_are_summed_and_other_figures_kept_each(capsys: pytest.CaptureFixture[str]) -> None:
    wait = [Measure(Metric.GATE_WAIT, value) for value in (1.5, 2.5)]
    embedded_metrics("learn")([*wait, Measure(Metric.LEARNED, 1, "learned"), Measure(Metric.LEARNED, 2, "learned")])
    (line,) = printed(capsys)
    assert (line["GateWait"], line["Learned"]) == ([1.5, 2.5], 3)


def test_values_of_one_dimension_are_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = ["learned", "disputed", "learned"]
    embedded_metrics("learn")([Measure(Metric.LEARNED, 1, outcome) for outcome in outcomes])
    assert [(line["outcome"], line["Learned"]) for line in printed(capsys)] == [("learned", 2), ("disputed", 1)]


def test_a_line_holds_no_more_values_of_a_metric_than_it_may(capsys: pytest.CaptureFixture[str]) -> None:
    embedded_metrics("learn")([Measure(Metric.GATE_WAIT, value) for value in range(MOST_VALUES + 1)])
    assert [line["GateWait"] for line in printed(capsys)] == [[*range(MOST_VALUES)], MOST_VALUES]


def test_what_is_no_number_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    embedded_metrics("learn")([Measure(Metric.MODEL_COST, value, "judge") for value in (math.nan, math.inf, 0.5)])
    (line,) = printed(capsys)
    assert line["ModelCost"] == 0.5


@pytest.mark.parametrize("bad", [10**400, None, "a", Decimal("0.5"), math.nan], ids=["vast", "none", "text", "decimal", "nan"])
def test_a_value_that_is_none_costs_no_other_its_place(capsys: pytest.CaptureFixture[str], bad: Any) -> None:
    good, largest = Measure(Metric.COVERAGE, 1, "complete"), Measure(Metric.LEARNED, 1.5e308, "learned")
    embedded_metrics("learn")([Measure(Metric.LEARNED, bad, "learned"), good, largest, largest])
    (line,) = printed(capsys)
    assert (line["Coverage"], line["Learned"]) == (1, 1.5e308)


def test_many_figures_are_put_into_lines_without_looking_at_all_lines_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Counter[str]()

    def traced(frame: FrameType, event: str, _arg: object) -> None:
        looks[frame.f_code.co_name] += event == "call"

    many = [Measure(Metric.GATE_WAIT, 1.5)] * 5_000 + [Measure(Metric.LEARNED, 1, str(of)) for of in range(500)]
    monkeypatch.setattr("sys.stdout", StringIO())
    sys.setprofile(traced)
    try:
        embedded_metrics("learn")(many)
    finally:
        sys.setprofile(None)
    assert max(looks.values()) <= 4 * len(many)


def test_only_lambda_has_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert meter_for("recall", {}) is no_metrics
    meter_for("recall", LAMBDA)([Measure(Metric.COVERAGE, 1, "complete")])
    assert emitted(capsys.readouterr().out.splitlines()) == {("Coverage", "Count", "coverage")}
    no_metrics([Measure(Metric.COVERAGE, 1, "complete")])
    assert capsys.readouterr().out == ""


def test_what_a_block_records_is_printed_at_its_end_even_when_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    meter = meter_for("learn", LAMBDA)

    def fails() -> None:
        with metered(meter):
            metrics.record(Metric.LEARNED, of="learned")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fails()
    assert [line["Learned"] for line in printed(capsys)] == [1]
    metrics.record(Metric.LEARNED, of="learned")
    with metered(meter):
        pass
    with metered(no_metrics):
        metrics.record(Metric.LEARNED, of="learned")
    assert capsys.readouterr().out == ""


def test_metrics_that_cannot_be_written_fail_nobody(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def write(self, _text: str) -> int:
            raise OSError("no room")

    monkeypatch.setattr("sys.stdout", Broken())
    embedded_metrics("learn")([Measure(Metric.GATE_WAIT, 1)])
    assert [one.getMessage() for one in caplog.records] == ["metrics.lost"]
