"""Metrics in CloudWatch's embedded format: on Lambda, on stdout, and nowhere else."""

from __future__ import annotations

import json

import pytest

from tributary.edges.lambda_http.metrics import embedded_metrics, meter_for, no_metrics
from tributary.edges.lambda_http.reply import Measure


def test_each_measure_is_a_line_with_its_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    meter = embedded_metrics("learn")
    meter(
        [
            Measure(name="Learned", dimensions={"outcome": "superseded"}),
            Measure(name="Latency", value=12.5, unit="Milliseconds", dimensions={"operation": "learn"}),
        ]
    )
    learned, latency = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert learned["Learned"] == [1.0]
    assert (learned["service"], learned["outcome"]) == ("learn", "superseded")
    (described,) = learned["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "Tributary"
    assert sorted(described["Dimensions"][0]) == ["outcome", "service"]
    assert latency["Latency"] == [12.5]
    assert latency["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Unit"] == "Milliseconds"


def test_only_lambda_has_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert meter_for("recall", {}) is no_metrics
    on_lambda = meter_for("recall", {"AWS_LAMBDA_FUNCTION_NAME": "tributary-recall"})
    on_lambda([Measure(name="Coverage", dimensions={"coverage": "complete"})])
    assert json.loads(capsys.readouterr().out)["coverage"] == "complete"
    no_metrics([Measure(name="Coverage")])
    assert capsys.readouterr().out == ""
