"""What a recall costs where a filter or a moment of the past narrows it, and with many readers at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, LiteralString

import psycopg

from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.progress import Progress
from benchmarks.recall import PLAIN, Call, Town, in_turn, overheard, timed
from benchmarks.recall import question as question_of
from tributary.recall.search import EVERYTHING
from tributary.store import Target as Where
from tributary.store import connect

QUERIES = 60
ROUNDS = 4
READERS = 32
READING_S = 4.0
EVERY = 9
"""One of so many lessons is ended: 11 in a hundred."""
ENDED: LiteralString = """
WITH ended AS (
    UPDATE tributary.lesson SET status = 'retired', deactivated_tick = %(tick)s, deactivated_at = clock_timestamp()
    WHERE tribe_id = %(tribe)s AND believed AND mod(learned_tick, %(every)s) = 0 RETURNING lesson_id, agent_id)
INSERT INTO tributary.lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at)
SELECT %(tribe)s, %(tick)s, row_number() OVER () - 30000, lesson_id, 'retired', 'retired', agent_id, clock_timestamp()
FROM ended"""
WHOLE_LESSONS: LiteralString = "SELECT * FROM tributary.lesson WHERE tribe_id = %(tribe)s AND lesson_id = ANY (%(ids)s)"


def measure(town: Town, progress: Progress) -> Measured:
    """Measures filters, then readers at once, then reads as of the past, after ending some lessons."""
    progress.step("timing recall by filters")
    asked: dict[str, dict[str, Any]] = {"now": {}, "1 in 100": {"tags": {"part": "7"}}, "1 in 2": {"tags": {"half": "1"}}}
    filtered = _in_turn(town, asked)
    figures = [
        _beside(filtered, "1 in 100", "recall: a filter that lets 1 in 100 through", target=Target(bound=5.0)),
        _beside(filtered, "1 in 2", "recall: a filter that lets half through"),
        _found(town, "1 in 100", asked["1 in 100"], least=0.98),
        _found(town, "1 in 2", asked["1 in 2"], least=0.97),
    ]
    progress.step(f"timing {READERS} readers at once")
    figures += _readers(town)
    progress.step("ending one lesson in nine, and building the index of the past")
    tick = _end(town)
    town.ground.build_index(town.large)
    progress.step("timing recall as of the past")
    moments = {
        "now": {},
        "before they ended": {"as_of": tick},
        "half ago": {"as_of": tick // 2},
        "nine in ten ago": {"as_of": tick // 10},
    }
    past = _in_turn(town, moments)
    figures += [
        _beside(past, "before they ended", "recall as of: 11 in 100 deactivated since", target=Target(bound=3.0)),
        _beside(past, "half ago", "recall as of: half of the lessons learned since"),
        _beside(past, "nine in ten ago", "recall as of: nine in ten learned since"),
        _found(town, "before they ended", {"as_of": tick}, least=0.97),
    ]
    return Measured(
        figures=tuple(figures), distributions={f"recall, {name}": one.values for name, one in (filtered | past).items()}
    )


def _in_turn(town: Town, asked: dict[str, dict[str, Any]]) -> dict[str, Samples]:
    """Times the recall statement for each way of asking in turn, on one connection."""
    calls = {name: overheard(town, town.large, range(QUERIES), **fields) for name, fields in asked.items()}
    with town.ground.runtime() as connection:

        def way(statements: list[Call]) -> Callable[[int], float]:
            return lambda query: timed(connection, *statements[query], as_records=True)

        taken = in_turn({name: way(statements) for name, statements in calls.items()}, range(QUERIES), rounds=ROUNDS)
    return {name: one.best for name, one in taken.items()}


def _beside(taken: dict[str, Samples], name: str, says: str, *, target: Target | None = None) -> Figure:
    one, now = taken[name], taken["now"]
    return Figure(
        name=says,
        value=one.median,
        p95=one.p95,
        unit="ms",
        reference=now.median,
        beside="the same without it",
        target=target,
        note="all that the database does",
        details={"samples": one.document(), "now": now.document()},
    )


def _found(town: Town, name: str, fields: dict[str, Any], *, least: float) -> Figure:
    """Compares the hits of a recall with those of one that compares every lesson."""
    same = wanted = fewer = 0
    with town.ground.memory(town.stock()) as memory:
        exact = replace(memory.recaller, exact_limit=EVERYTHING, scan_budget_ms=25_000)
        for query in range(QUERIES):
            question = replace(question_of(town, query), **fields)
            truth = {hit.lesson.lesson_id for hit in exact.recall(town.large.curator, question).hits}
            found = {hit.lesson.lesson_id for hit in memory.recaller.recall(town.large.curator, question).hits}
            same, wanted, fewer = same + len(truth & found), wanted + len(truth), fewer + (len(found) < len(truth))
    return Figure(
        name=f"recall@10, {name}, against comparing every lesson",
        value=same / wanted,
        target=Target(bound=least, at_least=True),
        note=f"{fewer} of {QUERIES} questions had fewer hits",
    )


def _readers(town: Town) -> list[Figure]:
    """Answers a second of many readers, beside as many that run the plain vector query, and that and ten look-ups by id."""
    recalls = overheard(town, town.large, range(QUERIES))
    plain: list[Call] = [(PLAIN, town.parameters(town.large, query)) for query in range(QUERIES)]

    def ids_of(connection: psycopg.Connection, call: Call) -> None:
        ids = [row[0] for row in connection.execute(*call).fetchall()]
        connection.execute(WHOLE_LESSONS, {"tribe": town.large.tribe_id, "ids": ids}).fetchall()

    def one(connection: psycopg.Connection, call: Call) -> None:
        connection.execute(*call).fetchall()

    best = {"recall": 0.0, "plain": 0.0, "both": 0.0}
    for _ in range(2):
        best["plain"] = max(best["plain"], _throughput(town, one, plain))
        best["both"] = max(best["both"], _throughput(town, ids_of, plain))
        best["recall"] = max(best["recall"], _throughput(town, one, recalls))
    return [
        Figure(
            name=f"recall: {READERS} readers at once, answers a second",
            value=best["recall"],
            unit="/s",
            reference=best[reference],
            beside=beside,
            target=target,
        )
        for reference, beside, target in (
            ("both", "as many that run the plain query and fetch its ten lessons", Target(bound=0.9, at_least=True)),
            ("plain", "as many that run the plain query", None),
        )
    ]


def _throughput(town: Town, work: Callable[[psycopg.Connection, Call], None], calls: Sequence[Call]) -> float:
    """Returns how often a second many threads do some work, each on a connection that has done it before.

    A connection's first call reads the catalog and plans: of seconds shared by many, that would be a good part.
    """
    ready = threading.Barrier(READERS + 1, timeout=60)

    def read(number: int) -> int:
        done = 0
        with connect(Where(url=town.ground.url)) as connection:
            work(connection, calls[number % len(calls)])
            ready.wait()
            until = time.perf_counter() + READING_S
            while time.perf_counter() < until:
                work(connection, calls[(number + done) % len(calls)])
                done += 1
        return done

    with ThreadPoolExecutor(READERS) as threads:
        readers = [threads.submit(read, number) for number in range(READERS)]
        ready.wait()
        began = time.perf_counter()
        done = sum(reader.result() for reader in readers)
        return done / (time.perf_counter() - began)


def _end(town: Town) -> int:
    """Ends lessons in one tick, through the triggers that commits go through, and returns the tick before."""
    connection = town.ground.superuser
    with connection.transaction():
        row = connection.execute("SELECT tick FROM tributary.advance_v1(%s)", (town.large.tribe_id,)).fetchone()
        assert row is not None
        connection.execute(ENDED, {"tribe": town.large.tribe_id, "tick": row[0], "every": EVERY})
    connection.execute("VACUUM (ANALYZE) tributary.lesson, tributary.lesson_vector")
    return int(row[0]) - 1
