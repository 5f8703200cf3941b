"""What a recall costs and finds in one tribe of a million lessons, and how long its index takes to be built."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import LiteralString

from benchmarks.corpus import Material, embed_material
from benchmarks.figures import Figure, Measured
from benchmarks.ground import Ground
from benchmarks.progress import Progress
from benchmarks.recall import (
    MIDDLE,
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

LESSONS = 1_000_000
COPIES = 25
"""Near copies of each sentence, as in a tribe of 100,000: it is the graph that grows, not the crowd around a sentence.

What is found depends on this above all: of 250 copies of each of 4,000 sentences, 0.90 (docs/decisions/0012).
"""
BATCH = 50_000
"""Lessons that are made and loaded at a time."""
EXACTLY = 40
"""Questions whose answers are compared with exact search: each compares every lesson."""
OWN_CANDIDATES: LiteralString = "SELECT set_config('hnsw.ef_search', %s, false)"


@dataclass(frozen=True, kw_only=True)
class _Built:
    town: Town
    lessons: int
    seconds: float
    """What the operator's build took."""


def material_for(lessons: int, progress: Progress) -> Material:
    """Embeds as many sentences as a million lessons need, so that each has `COPIES`."""
    progress.step(f"embedding {lessons // COPIES:,} sentences to make lessons of")
    return embed_material(sentences=lessons // COPIES)


def measure(ground: Ground, material: Material, lessons: int, progress: Progress) -> Measured:
    """Fills a tribe of `lessons`, has the product build its index, and measures recalls beside the plain query."""
    built = _build(ground, material, lessons, progress)
    progress.step("timing recall beside the plain query")
    taken = side_by_side(built.town)
    figures = [_named(built, figure) for figure in timed_figures(built.town, taken)]
    figures += [_named(built, _as_many_candidates(built.town)), growth(built.town)]
    progress.step("comparing answers with exact search")
    found = found_at_10(built.town, EXACTLY)
    crowd = f"{COPIES} near copies a sentence: more of them are found less often (docs/decisions/0012)"
    figures += [_named(built, replace(found, note=f"{found.note}; {crowd}")), _build_time(built)]
    return Measured(
        figures=tuple(figures), distributions={f"{name}, {lessons:,} lessons": one.best.values for name, one in taken.items()}
    )


def _build(ground: Ground, material: Material, lessons: int, progress: Progress) -> _Built:
    progress.step(f"loading {lessons:,} lessons")
    large, middle = ground.create_tribe("large"), ground.create_tribe("middle")
    for corpus in material.stream(lessons, batch=BATCH):
        ground.fill(large, corpus, range(len(corpus.texts)))
    ground.fill(middle, material.corpus(MIDDLE), range(MIDDLE))
    ground.settle_statistics()
    progress.step("building the tribe's index")
    began = time.monotonic()
    ground.build_index(large)
    took = time.monotonic() - began
    return _Built(
        town=Town(ground=ground, material=material, large=large, middle=middle, small=()), lessons=lessons, seconds=took
    )


def _named(built: _Built, figure: Figure) -> Figure:
    """Says in a figure's name how many lessons it is about."""
    return replace(figure, name=f"{built.lessons:,} lessons, {figure.name}")


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


def _build_time(built: _Built) -> Figure:
    return Figure(
        name=f"{built.lessons:,} lessons: building the index",
        value=built.seconds,
        unit="s",
        note="as the operator does, CONCURRENTLY; marking vectors and the vacuum afterwards included",
    )
