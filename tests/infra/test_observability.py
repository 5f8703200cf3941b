"""What is watched: every metric that the code emits is shown, nothing else is, and each alarm says what to do."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from infra.metrics import DIMENSION, NAMESPACE, one_of
from tests.infra.conftest import ROOT, Deployment
from tributary.core.garden import longest_absence
from tributary.edges.lambda_http import metrics
from tributary.telemetry.metrics import Metric

SECTIONS = re.findall(r"^## ([a-z-]+)$", (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_table_of_metrics_is_the_librarys_catalogue() -> None:
    assert {metric.value: metric.dimension for metric in Metric} == DIMENSION
    assert NAMESPACE == metrics.NAMESPACE


def test_dashboard_shows_every_metric_of_ours_and_no_other(prod: Deployment, dev: Deployment) -> None:
    for deployment in (prod, dev):
        shown = re.findall(r"SEARCH\('\{Tributary,([^}]*)\} MetricName=\\*\"(\w+)", _body(deployment))
        assert {name for _, name in shown} == set(DIMENSION)
        for dimensions, name in shown:
            assert dimensions == ",".join(filter(None, ("service", DIMENSION[name])))


def test_dashboard_shows_what_aws_knows_too(prod: Deployment) -> None:
    body = _body(prod)
    for name in (
        "DatabaseConnectionsCurrentlySessionPinned",
        "ServerlessDatabaseCapacity",
        "ACUUtilization",
        "Throttles",
        "Errors",
    ):
        assert f'"{name}"' in body


def test_alarms_of_ours_watch_metrics_that_are_emitted(prod: Deployment) -> None:
    watched = {
        (metric["MetricName"], *sorted(one["Name"] for one in metric["Dimensions"]))
        for alarm in _alarms(prod)
        for metric in _metrics_of(alarm)
        if metric["Namespace"] == NAMESPACE
    }
    assert watched
    assert watched <= {(name, *sorted(filter(None, ("service", of)))) for name, of in DIMENSION.items()}


def test_page_of_metrics_names_the_alarm_that_watches_each(prod: Deployment) -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    told = {
        (name, alarm)
        for line in page.splitlines()
        if (found := re.match(r"\| `(\w+)` ", line))
        for name in found.groups()
        for alarm in re.findall(r"\(runbook\.md#([a-z-]+)\) \|$", line)
    }
    assert told == {
        (metric["MetricName"], alarm["AlarmName"].removeprefix("tributary-prod-"))
        for alarm in _alarms(prod)
        for metric in _metrics_of(alarm)
        if metric["Namespace"] == NAMESPACE
    }


def test_each_alarm_has_its_section_in_the_runbook_and_each_section_its_alarm(prod: Deployment, dev: Deployment) -> None:
    sections = {_section(alarm) for alarm in _alarms(prod)}
    assert sections == set(SECTIONS)
    for alarm in _alarms(prod):
        assert alarm["AlarmName"].startswith(f"tributary-prod-{_section(alarm)}")
    assert sections - {_section(alarm) for alarm in _alarms(dev)} == {"proxy-pinned", "replica-behind"}


def test_each_alarm_tells_somebody_and_says_when_it_is_over(everything: Deployment) -> None:
    topic = {"Ref": next(iter(everything.of_type("AWS::SNS::Topic")))}
    for alarm in _alarms(everything):
        assert alarm["AlarmActions"] == alarm["OKActions"] == [topic]
    assert everything.only("AWS::SNS::Subscription")["Endpoint"] == "oncall@example.org"


def test_alarms_may_tell_the_topic_and_nobody_without_tls(prod: Deployment) -> None:
    statements = prod.only("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    (allowed,) = [one for one in statements if one["Effect"] == "Allow"]
    assert (allowed["Action"], allowed["Principal"]) == ("sns:Publish", {"Service": "cloudwatch.amazonaws.com"})
    (denied,) = [one for one in statements if one["Effect"] == "Deny"]
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_no_alarm_adds_up_more_metrics_than_cloudwatch_takes(dev: Deployment) -> None:
    assert max(len(_stats_of(alarm)) for alarm in _alarms(dev) if "Metrics" in alarm) <= 10


def test_no_alarm_looks_back_further_than_cloudwatch_does(prod: Deployment, dev: Deployment) -> None:
    for deployment in (prod, dev):
        for alarm in _alarms(deployment):
            periods = [alarm["Period"]] if "Period" in alarm else [one["Period"] for one in _stats_of(alarm)]
            assert max(periods) <= 86_400
            most = 7 * 86_400 if min(periods) >= 3600 else 86_400
            assert max(periods) * alarm["EvaluationPeriods"] <= most


def test_line_of_an_alarm_names_its_dimension_or_is_refused() -> None:
    with pytest.raises(ValueError, match="Coverage has coverage besides the service"):
        one_of("Coverage", "recall", statistic="Sum")


def test_the_status_misses_the_gardener_when_its_alarm_does(prod: Deployment, dev: Deployment) -> None:
    (alarm,) = [one for one in _alarms(prod) if _section(one) == "gardener-absent"]
    assert _patience(prod) == timedelta(seconds=alarm["Period"] * alarm["EvaluationPeriods"])
    assert _patience(dev) == timedelta(days=2), "without alarms, and woken once a day"


def _patience(deployment: Deployment) -> timedelta:
    """Returns for how long the status of a deployment misses no gardener."""
    every_s = deployment.function("recall")["Environment"]["Variables"]["TRIBUTARY_GARDEN_EVERY_S"]
    return longest_absence(timedelta(seconds=int(every_s)))


def _section(alarm: dict[str, Any]) -> str:
    """Returns the section of the runbook that an alarm names."""
    return str(alarm["AlarmDescription"]).rsplit("docs/runbook.md#", 1)[1]


def _body(deployment: Deployment) -> str:
    body = deployment.only("AWS::CloudWatch::Dashboard")["DashboardBody"]
    return json.dumps(body).replace('\\"', '"').replace('\\"', '"')


def _alarms(deployment: Deployment) -> list[dict[str, Any]]:
    return [one["Properties"] for one in deployment.of_type("AWS::CloudWatch::Alarm").values()]


def _stats_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    return [one["MetricStat"] for one in alarm["Metrics"] if "MetricStat" in one]


def _metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    if "Metrics" in alarm:
        return [stat["Metric"] | {"Dimensions": stat["Metric"].get("Dimensions", [])} for stat in _stats_of(alarm)]
    return [{"MetricName": alarm["MetricName"], "Namespace": alarm["Namespace"], "Dimensions": alarm.get("Dimensions", [])}]
