"""What a recall costs and finds in one tribe of a million lessons, and how long its index takes to be built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import LiteralString

from benchmarks.figures import Figure, Measured
from benchmarks.growing import COPIES, Grown
from benchmarks.progress import Progress
from benchmarks.recall import (
    PLAIN,
    VECTOR_PART,
    Town,
    ef_search_of,
    found_at_10,
    growth,
    in_turn,
    side_by_side,
    timed,
    timed_figures,
)
from tributary.store import Target as Where
from tributary.store import connect

EXACTLY = 40
"""Questions whose answers are compared with exact search: each compares every lesson."""
OWN_CANDIDATES: LiteralString = "SELECT set_config('hnsw.ef_search', %s, false)"


def measure(grown: Grown, lessons: int, progress: Progress) -> Measured:
    """Has the tribe grow to `lessons`, unless it has, and measures recalls beside the plain query."""
    grown.grow_to(lessons, progress)
    town = grown.town()
    progress.step("timing recall beside the plain query")
    taken = side_by_side(town)
    figures = [_named(grown, figure) for figure in timed_figures(town, taken)]
    figures += [_named(grown, _as_many_candidates(town)), growth(town)]
    progress.step("comparing answers with exact search")
    found = found_at_10(town, EXACTLY)
    crowd = f"{COPIES} near copies a sentence: more of them are found less often (docs/decisions/0012)"
    figures += [_named(grown, replace(found, note=f"{found.note}; {crowd}")), _build_time(grown)]
    return Measured(
        figures=tuple(figures),
        distributions={f"{name}, {grown.lessons:,} lessons": one.best.values for name, one in taken.items()},
    )


def _named(grown: Grown, figure: Figure) -> Figure:
    """Says in a figure's name how many lessons it is about."""
    return replace(figure, name=f"{grown.lessons:,} lessons, {figure.name}")


def _as_many_candidates(town: Town) -> Figure:
    """Times the vector part beside a plain query whose scan keeps as many candidates: what the product adds to the scan."""
    queries: Sequence[int] = range(len(town.material.queries))
    asked = [town.parameters(town.large, query) for query in queries]
    ef_search = ef_search_of(town.ground.superuser)
    with connect(Where(url=town.ground.url)) as connection:
        connection.execute(OWN_CANDIDATES, (ef_search,))
        taken = in_turn(
            {
                "plain": lambda query: timed(connection, PLAIN, asked[query]),
                "part": lambda query: timed(town.ground.superuser, VECTOR_PART, asked[query]),
            },
            queries,
        )
    one, plain = taken["part"].best, taken["plain"].best
    return Figure(
        name="recall: the vector part, candidates alike",
        value=one.median,
        p95=one.p95,
        unit="ms",
        reference=plain.median,
        beside=f"the plain query with hnsw.ef_search {ef_search} too",
        note="what is added to the cost of the scan itself",
        details={"samples": one.document(), "plain": plain.document()},
    )


def _build_time(grown: Grown) -> Figure:
    if grown.build_s is None:
        raise RuntimeError("so few lessons are searched without an index")
    return Figure(
        name=f"{grown.lessons:,} lessons: building the index",
        value=grown.build_s,
        unit="s",
        note="as the operator does, CONCURRENTLY; marking vectors and the vacuum afterwards included",
    )
