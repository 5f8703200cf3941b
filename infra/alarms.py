"""The alarms: what is watched, from where on it is wrong, and what that means. docs/runbook.md says what to do, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.config import Config
from infra.constructs.api import Api
from infra.constructs.functions import Functions
from infra.constructs.ground import Ground
from infra.constructs.queues import PendingQueue
from infra.constructs.schedules import Schedules
from infra.metrics import one_of

_AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
_QUIET_IS_FINE = cloudwatch.TreatMissingData.NOT_BREACHING
_QUIET_IS_WRONG = cloudwatch.TreatMissingData.BREACHING
_FIVE_MINUTES = Duration.minutes(5)
_HOUR = Duration.hours(1)
_BUSY = 0.9
"""Of the largest capacity."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """All that is looked at."""

    ground: Ground
    functions: Functions
    api: Api
    pending: PendingQueue
    schedules: Schedules


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Raised after `periods` periods in a row."""

    name: str
    means: str
    metric: cloudwatch.IMetric
    threshold: float
    comparison: cloudwatch.ComparisonOperator = _AT_LEAST
    periods: int = 1
    missing: cloudwatch.TreatMissingData = _QUIET_IS_FINE
    section: str = ""
    """Of the runbook, where it is not of the alarm's name."""

    @property
    def id(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("-"))


def alarms(config: Config, watched: Watched) -> tuple[Alarm, ...]:
    """Returns every alarm of a deployment."""
    return (
        *_serving(watched),
        *_memory(),
        *_gardening(config),
        *_set_aside(watched),
        *_database(config, watched),
    )


def _serving(watched: Watched) -> Iterator[Alarm]:
    yield Alarm(
        name="api-failing",
        means="Requests end in a status of 500 or above",
        metric=watched.api.http.metric_server_error(period=_FIVE_MINUTES, statistic="Sum"),
        threshold=5,
    )
    yield Alarm(
        name="recall-slow",
        means="One recall in a hundred takes longer than 3 seconds",
        metric=one_of("Latency", "recall", "recall", statistic="p99"),
        threshold=3000,
        periods=3,
    )
    # one a function: an alarm may not add up more than ten metrics
    for name, function in watched.functions.functions.items():
        yield Alarm(
            name=f"function-failing-{name}",
            section="function-failing",
            means=f"The function {name} raised, or ran out of time or of memory",
            metric=function.metric_errors(period=_FIVE_MINUTES),
            threshold=3,
        )
        yield Alarm(
            name=f"function-throttled-{name}",
            section="function-throttled",
            means=f"AWS refuses to start more copies of the function {name}",
            metric=function.metric_throttles(period=_FIVE_MINUTES),
            threshold=1,
        )


def _memory() -> Iterator[Alarm]:
    searched = [one_of("Coverage", "recall", of, statistic="Sum") for of in ("complete", "approximate", "partial")]
    unknown = one_of("Coverage", "recall", "unknown", statistic="Sum")
    yield Alarm(
        name="coverage-unknown",
        means="More than one recall in twenty could not say what it searched",
        metric=cloudwatch.MathExpression(
            expression="IF(FILL(u, 0) >= 3, 100 * FILL(u, 0) / (FILL(u, 0) + FILL(c, 0) + FILL(a, 0) + FILL(p, 0)), 0)",
            using_metrics={"u": unknown, **dict(zip("cap", searched, strict=True))},
            label="percent of recalls with coverage unknown",
            period=_FIVE_MINUTES,
        ),
        threshold=5,
        periods=2,
    )
    yield Alarm(
        name="quarantines-many",
        means="More lessons were held back in an hour than people read in one: an attack, or a screen that errs",
        metric=one_of("Learned", "learn", "quarantined", statistic="Sum", period=_HOUR),
        threshold=25,
    )
    yield Alarm(
        name="dispute-old",
        means="A dispute has waited for a curator for more than three days",
        metric=one_of("OldestDispute", "gardener", statistic="Maximum", period=_HOUR),
        threshold=3 * 24 * 3600,
    )
    yield Alarm(
        name="models-failing",
        means="Calls of a model fail: lessons wait to be judged or screened, or searches go without vectors",
        metric=_added(
            "failures",
            [
                one_of("ModelFailures", service, purpose, statistic="Sum")
                for service, purpose in (("recall", "embed"), ("learn", "embed"), ("learn", "judge"), ("learn", "screen"))
            ],
        ),
        threshold=10,
        periods=2,
    )
    yield Alarm(
        name="clock-ahead",
        means="A tribe's clock runs ahead of the wall clock: a database host's clock was wrong",
        metric=one_of("ClockAhead", "gardener", statistic="Maximum", period=_HOUR),
        threshold=5,
    )


def _gardening(config: Config) -> Iterator[Alarm]:
    # CloudWatch's longest period is a day
    looked_at = min(1440, max(60, config.garden_minutes))
    yield Alarm(
        name="gardener-absent",
        means="The gardener has not finished a run when it should have",
        metric=one_of("GardenLatency", "gardener", statistic="SampleCount", period=Duration.minutes(looked_at)),
        threshold=1,
        periods=2,
        comparison=_BELOW,
        missing=_QUIET_IS_WRONG,
    )
    yield Alarm(
        name="actions-in-doubt",
        means="Nobody knows whether the effects of some actions happened; a curator has to look, and reconcile them",
        metric=one_of("ActionsInDoubt", "gardener", statistic="Maximum", period=_HOUR),
        threshold=1,
        periods=24,
    )
    yield Alarm(
        name="gardener-failing",
        means="Rules of the gardener fail in some tribes",
        metric=_added(
            "failed",
            [
                one_of("GardenFailed", "gardener", rule, statistic="Sum", period=_HOUR)
                for rule in ("settle", "rescreen", "rejudge", "stamp", "evict", "embed", "index", "doubt", "prune", "none")
            ],
            period=_HOUR,
        ),
        threshold=1,
        periods=2,
    )


def _set_aside(watched: Watched) -> Iterator[Alarm]:
    yield Alarm(
        name="pending-late",
        means="Lessons have been pending for more than 15 minutes",
        metric=watched.pending.queue.metric_approximate_age_of_oldest_message(period=_FIVE_MINUTES, statistic="Maximum"),
        threshold=900,
        periods=2,
    )
    yield Alarm(
        name="pending-unheard",
        means="The queue could not be told of pending lessons, which wait for the gardener instead",
        metric=_added(
            "unheard",
            [one_of("PendingNoticesFailed", service, statistic="Sum") for service in ("learn", "curate")],
        ),
        threshold=3,
    )
    letters = [watched.pending.dead, watched.schedules.dead, *watched.functions.dead.values()]
    yield Alarm(
        name="dead-letters",
        means="Something was tried as often as it may be and set aside",
        metric=_added(
            "letters",
            [one.metric_approximate_number_of_messages_visible(period=_FIVE_MINUTES, statistic="Maximum") for one in letters],
        ),
        threshold=1,
    )


def _database(config: Config, watched: Watched) -> Iterator[Alarm]:
    cluster = watched.ground.database.cluster
    yield Alarm(
        name="database-full",
        means=f"The database works at {_BUSY:.0%} of the largest capacity that it may have",
        metric=cluster.metric("ServerlessDatabaseCapacity", statistic="Average", period=_FIVE_MINUTES),
        threshold=_BUSY * config.max_acu,
        periods=3,
    )
    if config.readers:
        yield Alarm(
            name="replica-behind",
            means="Readers lag behind the writer by more than 5 seconds",
            metric=cluster.metric("AuroraReplicaLagMaximum", statistic="Maximum", period=_FIVE_MINUTES),
            threshold=5000,
            periods=3,
        )
    if watched.ground.proxy is not None:
        yield Alarm(
            name="proxy-pinned",
            means="Sessions of RDS Proxy are pinned to one client, and are no pool any more",
            metric=cloudwatch.Metric(
                namespace="AWS/RDS",
                metric_name="DatabaseConnectionsCurrentlySessionPinned",
                dimensions_map={"ProxyName": watched.ground.proxy.proxy.db_proxy_name},
                statistic="Maximum",
                period=_FIVE_MINUTES,
            ),
            threshold=5,
            periods=3,
        )


def _added(label: str, metrics: list[cloudwatch.Metric], *, period: Duration = _FIVE_MINUTES) -> cloudwatch.MathExpression:
    named = {f"m{number}": metric for number, metric in enumerate(metrics)}
    return cloudwatch.MathExpression(
        expression=" + ".join(f"FILL({name}, 0)" for name in named), using_metrics=named, label=label, period=period
    )
