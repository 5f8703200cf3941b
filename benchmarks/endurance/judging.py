"""What was wrong with a run: the complaints that fail it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
import psycopg

from benchmarks.endurance.crowd import Made
from benchmarks.endurance.leaks import Trend, trend_of
from benchmarks.endurance.scenes import SLOW_MODELS, Scene
from benchmarks.endurance.served import Sample, Served

MB = 1024 * 1024
LONG_S = 60.0
"""A window of fewer seconds still holds some of the warm-up: it may grow by more, and is judged by it alone."""
SPARE_CONNECTIONS = 3
"""Beside its pool a server may have these for the operator's side: migrations, indexes, first tribes."""
SLOWER, SLOWER_MS = 2.0, 25.0
"""With slow models the median recall may take so many times what it takes with local ones, and so many milliseconds more."""
FIRST = 5
"""Of each kind of complaint so many are told; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What happened in one scene. `lost` are complaints of the check in the database."""

    scene: Scene
    seconds: float
    calls: Sequence[Made]
    samples: Sequence[Sample]
    lost: Sequence[str]
    outcomes: Mapping[str, int] = field(default_factory=dict)
    logged: Sequence[str] = ()
    exit_status: int = 0
    agents: int = 0

    @property
    def of_server(self) -> Mapping[str, Sequence[float]]:
        return {
            "memory, MB": [one.memory_bytes / MB for one in self.samples],
            "threads": [one.threads for one in self.samples],
            "open files": [one.files for one in self.samples],
            "database connections": [one.connections for one in self.samples],
        }

    def trends(self) -> Mapping[str, Trend | None]:
        short = self.seconds / 2 < LONG_S
        bounds = {
            "memory, MB": (100.0, 0.0) if short else (12.0, 0.04),
            "threads": (64.0, 0.0) if short else (6.0, 0.1),
            "open files": (64.0, 0.0) if short else (24.0, 0.1),
            "database connections": (self.scene.pool, 0.0) if short else (2.0, 0.1),
        }
        return {name: trend_of(series, least=bounds[name][0], share=bounds[name][1]) for name, series in self.of_server.items()}

    def by_operation(self) -> Mapping[str, Sequence[float]]:
        names = sorted({one.operation for one in self.calls}, key=lambda name: (name != "recall", "learn" in name, name))
        return {name: [one.ms for one in self.calls if one.operation == name] for name in names}

    def percentiles(self, operation: str) -> tuple[float, float, float]:
        p50, p95, p99 = np.percentile(self.by_operation()[operation], (50, 95, 99))
        return float(p50), float(p95), float(p99)


def complaints(ran: Ran) -> Iterator[str]:
    """Yields what was wrong in one scene."""
    yield from _summed(f"{one.operation}: {one.wrong}" for one in ran.calls if one.wrong)
    yield from ran.lost
    yield from _summed(ran.logged)
    if ran.exit_status:
        yield f"the server ended with status {ran.exit_status}"
    if not any(one.operation == "recall" for one in ran.calls):
        yield "nobody recalled anything"
    for name, trend in ran.trends().items():
        if trend is None:
            yield f"{name}: too few samples ({len(ran.samples)}) to tell whether it leaks"
        elif trend.leaks:
            rose = f"{name}: rose by {trend.growth:.1f} in the second half"
            yield f"{rose}, from about {trend.level:.0f}; {trend.tolerance:.1f} may be"
    most = max((one.connections for one in ran.samples), default=0)
    if most > ran.scene.pool + SPARE_CONNECTIONS:
        yield f"{most} database connections, with a pool of {ran.scene.pool}"


def compared(all_ran: Sequence[Ran]) -> Iterator[str]:
    """Yields what the scenes tell beside one another, of runs that are long enough for it."""
    by_name = {one.scene.name: one for one in all_ran if one.seconds >= LONG_S and one.by_operation().get("recall")}
    slow, plain = by_name.pop(SLOW_MODELS.name, None), next(iter(by_name.values()), None)
    if slow is not None and plain is not None:
        with_slow, without = slow.percentiles("recall")[0], plain.percentiles("recall")[0]
        if with_slow > SLOWER * without + SLOWER_MS:
            yield f"the median recall takes {with_slow:.0f} ms with slow models, {without:.0f} ms without"


def lost_lessons(connection: psycopg.Connection, calls: Sequence[Made]) -> Iterator[str]:
    """Yields what the database does not hold as it was acknowledged; nothing is pending any more."""
    told = [one.acknowledged for one in calls if one.acknowledged]
    for what, table in (("lesson", "lesson"), ("decision", "decision")):
        ids = {UUID(hex=one[what].partition("_")[2]): one for one in told if one[what]}
        query = f"SELECT {table}_id FROM tributary.{table} WHERE {table}_id = ANY(%s)"
        held = {row[0] for row in connection.execute(query.encode(), (list(ids),))}
        yield from _summed(
            f"acknowledged as {one['outcome']} and not there: {one[what]}" for key, one in ids.items() if key not in held
        )
    pending = connection.execute("SELECT count(*) FROM tributary.lesson WHERE status = 'pending'").fetchone()
    if pending and pending[0]:
        yield f"{pending[0]} lessons are still pending"
    doubled = connection.execute(
        "SELECT source_ref, count(*) FROM tributary.lesson WHERE source_ref LIKE 'load:%' GROUP BY tribe_id, source_ref"
        " HAVING count(*) > 1"
    ).fetchall()
    yield from _summed(f"one key, {count} lessons: {ref}" for ref, count in doubled)


def trouble_in(server: Served) -> Iterator[str]:
    """Yields what the server's log and its standard error tell of errors, and of replies of 500 and above."""
    for line in server.log():
        if line["level"] in ("error", "critical"):
            yield f"logged at level {line['level']}: {line['event']} {line.get('error', '')}".rstrip()
        elif int(line.get("status") or 0) >= 500:
            yield f"answered {line['status']}: {line['event']} {line.get('route', '')} {line.get('code', '')}".rstrip()
    for remark in server.remarks():
        yield f"said on standard error: {remark}"


def _summed(found: Iterator[str] | Sequence[str]) -> Iterator[str]:
    counted = Counter(found)
    for what, times in counted.most_common(FIRST):
        yield what if times == 1 else f"{what} ({times} times)"
    if len(counted) > FIRST:
        yield f"and {sum(counted.values()) - sum(times for _, times in counted.most_common(FIRST))} further ones of the kind"
