"""What the CloudWatch dashboard shows, row by row: is it fast, is it right, is it kept up, what does it cost, does it hold."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Watched
from infra.config import Config
from infra.metrics import PERIOD, all_of

Row = tuple[cloudwatch.IWidget, ...]


def rows(config: Config, watched: Watched) -> Iterator[Row]:
    """Gives the rows of graphs from the top down."""
    yield _title("Serving")
    yield (
        _graph("Recall by path, ms (p50, p99)", all_of("RecallLatency", "p50"), all_of("RecallLatency", "p99")),
        _graph("Latency by operation, ms (p99)", all_of("Latency", "p99")),
        _graph("Problems by code", all_of("Problems", "Sum")),
    )
    yield _title("Belief")
    yield (
        _graph("Coverage of recalls", all_of("Coverage", "Sum"), stacked=True),
        _graph("Outcomes of learns", all_of("Learned", "Sum"), stacked=True),
        _graph(
            "Waiting for curators",
            *(all_of(name, "Maximum") for name in ("DisputesOpen", "ChallengesOpen", "LessonsQuarantined", "LessonsPending")),
        ),
    )
    yield (
        _graph("Wait for the gate, ms (p50, p99)", all_of("GateWait", "p50"), all_of("GateWait", "p99")),
        _graph("Replans and escalations", all_of("Replans", "Sum"), all_of("Escalations", "Sum")),
        _graph(
            "Oldest dispute, seconds; clock ahead, seconds", all_of("OldestDispute", "Maximum"), all_of("ClockAhead", "Maximum")
        ),
    )
    yield (
        _graph("Actions by outcome", all_of("Actions", "Sum"), stacked=True),
        _graph("Actions in doubt", all_of("ActionsInDoubt", "Maximum")),
    )
    yield _title("Models")
    yield (
        _graph("Cost by purpose, US dollars", all_of("ModelCost", "Sum"), stacked=True),
        _graph("Calls by purpose", all_of("ModelCalls", "Sum")),
        _graph("Failures by purpose", all_of("ModelFailures", "Sum")),
    )
    yield _title("Gardener and queue")
    yield (
        _graph("Done by rule", all_of("GardenDone", "Sum"), stacked=True),
        _graph(
            "Left, refused, failed by rule", *(all_of(name, "Sum") for name in ("GardenLeft", "GardenRefused", "GardenFailed"))
        ),
        _graph(
            "A run, ms; tribes that no time was left for", all_of("GardenLatency", "Maximum"), all_of("GardenWaiting", "Maximum")
        ),
    )
    yield (
        _graph("Notices of pending lessons", all_of("PendingNotices", "Sum"), all_of("PendingNoticesFailed", "Sum")),
        _graph("Messages settled", all_of("QueueMessages", "Sum")),
        _graph(
            "Queue: oldest message, seconds; dead letters",
            watched.pending.queue.metric_approximate_age_of_oldest_message(period=PERIOD),
            watched.pending.dead.metric_approximate_number_of_messages_visible(period=PERIOD),
        ),
    )
    yield _title("Functions and database")
    functions = watched.functions.functions
    yield (
        _graph("Errors", *(one.metric_errors(period=PERIOD, label=name) for name, one in functions.items())),
        _graph("Throttles", *(one.metric_throttles(period=PERIOD, label=name) for name, one in functions.items())),
        _graph("Cold starts", all_of("ColdStarts", "Sum")),
    )
    yield tuple(_database(config, watched))


def _database(config: Config, watched: Watched) -> Iterator[cloudwatch.IWidget]:
    cluster = watched.ground.database.cluster
    yield _graph(
        f"Capacity, ACU (at most {config.max_acu:g})",
        cluster.metric("ServerlessDatabaseCapacity", statistic="Average", period=PERIOD),
        cluster.metric("ACUUtilization", statistic="Average", period=PERIOD),
    )
    yield _graph("Connections", cluster.metric_database_connections(period=PERIOD))
    if watched.ground.proxy is not None:
        yield _graph(
            "Proxy: pinned sessions, borrowed connections",
            *(
                cloudwatch.Metric(
                    namespace="AWS/RDS",
                    metric_name=name,
                    dimensions_map={"ProxyName": watched.ground.proxy.proxy.db_proxy_name},
                    statistic="Maximum",
                    period=PERIOD,
                )
                for name in ("DatabaseConnectionsCurrentlySessionPinned", "DatabaseConnectionsCurrentlyBorrowed")
            ),
        )


def _title(text: str) -> Row:
    return (cloudwatch.TextWidget(markdown=f"## {text}", width=24, height=1),)


def _graph(title: str, *lines: cloudwatch.IMetric, stacked: bool = False) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(lines), width=8, height=6, stacked=stacked)
