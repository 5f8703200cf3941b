"""How recall and learn become slower while one tribe grows from a thousand lessons to a million, beside plain SQL on its rows.

Plain SQL is the vector search alone, top 10, with no rule, term, receipt or counter: by the tribe's own index where it has
one, else by comparing every row. At each size the ways take turns. Vectors are made beforehand: what embedding takes is
measured apart.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from benchmarks.figures import Chart, Curve, Figure, Measured, Samples
from benchmarks.growing import Grown
from benchmarks.learn import LESSONS as LEARNED
from benchmarks.learn import learn_in_turn
from benchmarks.newcomers import FAMILIES
from benchmarks.progress import Progress
from benchmarks.recall import PLAIN, in_turn, overheard, question, timed

STEPS = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = 60
ROUNDS = 3
EXACT_PLAIN: LiteralString = """
SELECT lesson_id FROM tributary.lesson_vector
WHERE tribe_id = %(tribe)s AND space_id = %(space)s AND believed
ORDER BY embedding::public.halfvec(384) OPERATOR(public.<=>) %(vector)s::public.halfvec(384) LIMIT 10"""
PLAIN_SQL, RECALL_DATABASE, RECALL, LEARN_DATABASE, LEARN = (
    "plain SQL: vector top 10",
    "recall, database",
    "recall, whole",
    "learn, database",
    "learn, whole",
)


@dataclass(frozen=True, kw_only=True)
class _Step:
    lessons: int
    indexed: bool
    taken: Mapping[str, Samples]


def measure(grown: Grown, most: int, progress: Progress) -> Measured:
    """Grows the tribe up to `most` lessons, and measures at each step."""
    steps = []
    for lessons in (step for step in STEPS if step <= most):
        grown.grow_to(lessons, progress)
        progress.step(f"timing recall and learn at {lessons:,} lessons")
        steps.append(_Step(lessons=lessons, indexed=grown.indexed, taken={**_recalls(grown), **_learns(grown)}))
    figures = [_figure(step, name) for step in steps for name in (RECALL_DATABASE, RECALL, LEARN_DATABASE, LEARN)]
    return Measured(figures=tuple(figures), curves=tuple(_curves(steps)))


def _recalls(grown: Grown) -> dict[str, Samples]:
    town, queries = grown.town(), range(QUERIES)
    calls = overheard(town, town.large, queries)
    plain = PLAIN if grown.indexed else EXACT_PLAIN
    asked = [town.parameters(town.large, query) for query in queries]
    with town.ground.runtime() as runtime, town.ground.memory(town.stock(), connections=1) as memory:

        def whole(query: int) -> float:
            began = time.perf_counter()
            memory.recall(town.large.curator, question(town, query))
            return (time.perf_counter() - began) * 1000

        taken = in_turn(
            {
                PLAIN_SQL: lambda query: timed(town.ground.superuser, plain, asked[query]),
                RECALL_DATABASE: lambda query: timed(runtime, *calls[query], as_records=True),
                RECALL: whole,
            },
            queries,
            rounds=ROUNDS,
        )
    return {name: one.every for name, one in taken.items()}


def _learns(grown: Grown) -> dict[str, Samples]:
    newcomers = grown.material.newcomers(LEARNED, families=range(FAMILIES), seed=500 + grown.lessons)
    taken = learn_in_turn(grown.ground, [(grown.large, newcomers)])[0]
    database = [reading + commit for reading, commit in zip(taken.reading, taken.commit, strict=True)]
    return {LEARN_DATABASE: Samples(values=database), LEARN: taken.of("learn")}


def _figure(step: _Step, name: str) -> Figure:
    one, plain = step.taken[name], step.taken[PLAIN_SQL]
    how = "by its index" if step.indexed else "each compared"
    return Figure(
        name=f"growth: {name}, at {step.lessons:,}",
        value=one.median,
        p95=one.p95,
        unit="ms",
        reference=plain.median,
        beside=f"plain SQL, {how}: p95 {plain.p95:.2f}",
        details={"samples": one.document(), "plain": plain.document()},
    )


def _curves(steps: Sequence[_Step]) -> list[Curve]:
    charts = {
        which: Chart(title=f"One tribe that grows: {which} of 100 calls", across="lessons in the tribe", up="milliseconds")
        for which in ("50", "95")
    }
    return [
        Curve(
            chart=chart,
            name=name,
            points=[(step.lessons, step.taken[name].median if which == "50" else step.taken[name].p95) for step in steps],
            dashed=name == PLAIN_SQL,
        )
        for which, chart in charts.items()
        for name in (PLAIN_SQL, RECALL_DATABASE, RECALL, LEARN_DATABASE, LEARN)
    ]
