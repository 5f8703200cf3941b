"""How busy a tribe was, and what evals found of the code and the models: each in one read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tributary.core.activity import (
    BOUNDS_MS,
    Activity,
    Bucket,
    Conflicts,
    Judging,
    Latency,
    ModelCalls,
    Models,
    Window,
)
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest
from tributary.core.evaluation import EvaluationRun
from tributary.core.limits import ACTIVITY_HOURS, EVALUATION_RUNS
from tributary.core.receipt import Coverage
from tributary.store import Reading, rows, statement


@dataclass(frozen=True, kw_only=True)
class Chronicler:
    """Reads events and counters; nothing of it is a belief, so a replica will do."""

    database: Reading
    now: Now = utc_now

    def activity(self, principal: Principal, *, hours: int = 24) -> Activity:
        """Returns what happened in the last `hours` hours, with the one that is running; calls of models only to a curator.

        Raises InvalidRequest for none, or more than ACTIVITY_HOURS.
        """
        principal.require(Role.READER)
        if not 1 <= hours <= ACTIVITY_HOURS:
            raise InvalidRequest("hours", f"must be from 1 to {ACTIVITY_HOURS}")
        now = self.now()
        window = Window.of(now, hours)
        found = rows.document(
            self.database.value(
                statement("recall", "activity"),
                {
                    "tribe_id": principal.tribe_id,
                    "agent_id": principal.agent_id,
                    "since": window.since,
                    "until": window.end,
                    "length": window.every.length,
                    "bounds_ms": list(BOUNDS_MS),
                },
            )
        )
        latencies = _latencies(found["latencies"])
        return Activity(
            window=window,
            until=now,
            buckets=_buckets(window, found),
            conflicts=_conflicts(found),
            recall=latencies.get("recall", Latency()),
            learn=latencies.get("learn", Latency()),
            models=None if found["models"] is None else _models(found),
        )

    def evaluations(self, principal: Principal, *, limit: int = 20) -> tuple[EvaluationRun, ...]:
        """Returns the newest runs of the evals that this database keeps, newest first. They are of no tribe.

        Raises InvalidRequest for none, or more than EVALUATION_RUNS.
        """
        principal.require(Role.READER)
        if not 1 <= limit <= EVALUATION_RUNS:
            raise InvalidRequest("limit", f"must be from 1 to {EVALUATION_RUNS}")
        found = self.database.value(statement("evaluations", "latest"), {"limit": limit})
        return rows.evaluation_runs(found)


def _buckets(window: Window, found: rows.Document) -> tuple[Bucket, ...]:
    ticks = {rows.moment(one["start"]): int(one["ticks"]) for one in found["ticks"]}
    events = _by_start(found["events"], "event", "events")
    recalls = _by_start(found["recalls"], "what", "calls")
    return tuple(
        Bucket(
            start=start,
            ticks=ticks.get(start, 0),
            events=events[start],
            recalls={Coverage(what.removeprefix("recall.")): calls for what, calls in recalls[start].items()},
        )
        for start in window.starts
    )


def _by_start(found: Iterable[rows.Document], name: str, count: str) -> defaultdict[datetime, dict[str, int]]:
    by_start: defaultdict[datetime, dict[str, int]] = defaultdict(dict)
    for one in found:
        by_start[rows.moment(one["start"])][one[name]] = int(one[count])
    return by_start


def _latencies(found: Iterable[rows.Document]) -> Mapping[str, Latency]:
    bins: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for one in found:
        bins[one["of"]][one["bin"]] = int(one["calls"])
    return {of: Latency.of(counts) for of, counts in bins.items()}


def _conflicts(found: rows.Document) -> Conflicts:
    endings = found["endings"]
    return Conflicts(
        replaced=int(found["replaced"]),
        accepted=int(endings.get("accepted", 0)),
        rejected=int(endings.get("rejected", 0)),
        both_stand=int(endings.get("both_stand", 0)),
    )


def _models(found: rows.Document) -> Models:
    pairs = found["pairs"]
    return Models(
        calls=tuple(map(_calls, found["models"])),
        judging=Judging(pairs=int(pairs.get("pairs.judged", 0)), escalated=int(pairs.get("pairs.escalated", 0))),
    )


def _calls(row: rows.Document) -> ModelCalls:
    return ModelCalls(
        purpose=row["purpose"],
        model=row["model"],
        failed=int(row["failed"]),
        unpriced=int(row["unpriced"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cost_usd=Decimal(row["cost_usd"]),
        latency=Latency.of({int(number): int(calls) for number, calls in row["bins"].items()}),
    )
