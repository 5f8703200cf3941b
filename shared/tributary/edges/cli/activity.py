"""`tributary activity`: how busy the tribe was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.contract.limits import ACTIVITY_HOURS
from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, moment, shown

if TYPE_CHECKING:
    from tributary.client import Activity
    from tributary.contract.activity import BucketReply, LatencyReply, ModelCallsReply, RecallsReply

_BUCKETS = (("from (UTC)", "left"), ("ticks", "right"), ("recalls", "right"), ("events", "left"))
_MODELS = (
    *(("purpose", "left"), ("model", "left"), ("calls", "right"), ("failed", "right")),
    *(("p50 ms", "right"), ("p95 ms", "right"), ("dollars", "right")),
)
_COVERAGES = ("complete", "approximate", "partial", "unknown")


def activity(
    context: typer.Context,
    hours: Annotated[
        int,
        typer.Option(
            min=1, max=ACTIVITY_HOURS, help="How far back, with the hour that is running; beyond 72, by whole days (UTC)."
        ),
    ] = 24,
    as_json: AsJson = False,
) -> None:
    """Show how busy the tribe was, hour by hour; to curators, what models were called for.

    \b
    Example: tributary activity --hours 48
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.activity(hours=hours)
    output.result(found.model_dump(mode="json"), list(_lines(found)))
    if as_json:
        return
    if busy := [one for one in found.buckets if one.ticks or _recalls(one.recalls)]:
        output.table(_BUCKETS, [_bucket(one) for one in busy])
    if found.models is not None and found.models.calls:
        output.table(_MODELS, [_model(one) for one in found.models.calls])


def _lines(found: Activity) -> Iterator[str]:
    yield f"since {moment(found.since)}: {counted(sum(one.ticks for one in found.buckets), 'tick')}"
    ended = found.conflicts
    yield (
        f"conflicts settled: {ended.total} ({ended.replaced} replaced, {ended.accepted} accepted, {ended.rejected} rejected,"
        f" {ended.both_stand} both stand)"
    )
    by_coverage = {name: sum(getattr(one.recalls, name) for one in found.buckets) for name in _COVERAGES}
    said = ", ".join(f"{calls} {name}" for name, calls in by_coverage.items() if calls) or "none"
    yield f"recalls: {said}{_times(found.recall)}"
    yield f"learns: {found.learn.calls}{_times(found.learn)}"
    if found.models is not None:
        judging = found.models.judging
        yield f"judged: {counted(judging.pairs, 'pair')}, {judging.escalated} by the strong judge as well"
        yield f"models: {found.models.cost_usd:.4f} dollars" if found.models.calls else "models: none was called"


def _times(latency: LatencyReply) -> str:
    return f"; p50 {_ms(latency.p50_ms)} ms, p95 {_ms(latency.p95_ms)} ms" if latency.calls else ""


def _ms(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.1f}"


def _recalls(one: RecallsReply) -> int:
    return one.complete + one.approximate + one.partial + one.unknown


def _bucket(one: BucketReply) -> tuple[str, ...]:
    events = ", ".join(f"{count} {shown(event)}" for event, count in sorted(one.events.items()))
    return (f"{one.start:%Y-%m-%d %H:%M}", str(one.ticks), str(_recalls(one.recalls)), events)


def _model(one: ModelCallsReply) -> tuple[str, ...]:
    dollars = "unknown" if one.calls and one.unpriced == one.calls else f"{one.cost_usd:.4f}"
    return (
        *(shown(one.purpose), shown(one.model), str(one.calls), str(one.failed)),
        *(_ms(one.latency.p50_ms), _ms(one.latency.p95_ms), dollars),
    )
