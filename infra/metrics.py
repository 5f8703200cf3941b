"""The metrics that the functions emit, by name and dimension, as graphs and alarms ask for them.

The library's catalogue is `telemetry/metrics.py`; a test holds this table to it, both ways.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

NAMESPACE = "Tributary"
PERIOD = Duration.minutes(5)

DIMENSION: Mapping[str, str | None] = {
    "Latency": "operation",
    "Problems": "code",
    "ColdStarts": None,
    "RecallLatency": "path",
    "Coverage": "coverage",
    "Learned": "outcome",
    "GateWait": None,
    "Replans": None,
    "Escalations": None,
    "ModelCalls": "purpose",
    "ModelFailures": "purpose",
    "ModelCost": "purpose",
    "PendingNotices": None,
    "PendingNoticesFailed": None,
    "QueueMessages": "result",
    "GardenLatency": None,
    "GardenDone": "rule",
    "GardenLeft": "rule",
    "GardenRefused": "rule",
    "GardenFailed": "rule",
    "GardenWaiting": None,
    "LessonsPending": None,
    "LessonsQuarantined": None,
    "DisputesOpen": None,
    "OldestDispute": None,
    "ChallengesOpen": None,
    "ClockAhead": None,
    "Actions": "outcome",
    "ActionsInDoubt": None,
}
"""Every metric, with its dimension besides `service`."""


def all_of(name: str, statistic: str) -> cloudwatch.MathExpression:
    """Returns a line for each service, and for each value of the metric's dimension, that CloudWatch ever saw."""
    dimension = DIMENSION[name]
    schema = ",".join(filter(None, (NAMESPACE, "service", dimension)))
    label = f"${{PROP('Dim.service')}} ${{PROP('Dim.{dimension}')}}" if dimension else "${PROP('Dim.service')}"
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{{schema}}} MetricName=\"{name}\"', '{statistic}', {PERIOD.to_seconds():.0f})",
        label=label,
        period=PERIOD,
        using_metrics={},
    )


def one_of(name: str, service: str, value: str = "", *, statistic: str, period: Duration = PERIOD) -> cloudwatch.Metric:
    """Returns one line, as alarms need it; `value` is that of the metric's dimension."""
    dimension = DIMENSION[name]
    if bool(dimension) != bool(value):
        raise ValueError(f"{name} has {dimension or 'no dimension'} besides the service")
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": service, **({dimension: value} if dimension else {})},
        statistic=statistic,
        period=period,
    )
