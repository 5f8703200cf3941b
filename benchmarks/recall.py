"""What a recall costs beside the plain vector query on the same table and index, how it grows, and whether it finds as much."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import dict_row, tuple_row

from benchmarks.corpus import Material
from benchmarks.figures import Figure, Measured, Samples, Target, best_of
from benchmarks.ground import Ground, Tribe
from benchmarks.listening import Overheard, Stock, round_trips
from benchmarks.progress import Progress
from tributary.core.requests import Question
from tributary.spaces import EXACT_LIMIT, as_text

LIMIT = 10
POOL = 50
"""Lessons that a recall of LIMIT asks the vectors for."""
ROUNDS = 6
CALLS = 50
SMALL = 200
"""Small tribes; with a middle one they hold half of the lessons, one large one the other half."""
MIDDLE = EXACT_LIMIT
"""Lessons of the middle tribe: as many as are still compared one by one."""
GROWTH_QUERIES = 60

PLAIN: LiteralString = """
SELECT lesson_id FROM tributary.lesson_vector
WHERE tribe_id = %(tribe)s AND space_id = %(space)s AND believed AND indexed
ORDER BY embedding::public.halfvec(384) OPERATOR(public.<=>) %(vector)s::public.halfvec(384) LIMIT 10"""
VECTOR_PART: LiteralString = (
    "SELECT lesson_ids FROM tributary.nearest_v1(%(tribe)s, %(space)s, %(vector)s::public.halfvec, 10, 'vector:hnsw')"
)
EXACT: LiteralString = (
    "SELECT lesson_ids, compared FROM tributary.nearest_v1(%(tribe)s, %(space)s, %(vector)s::public.halfvec, 10, 'vector:exact')"
)

Call = tuple[LiteralString, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Town:
    """One large tribe with an index of its own, a middle one that is just searched exactly, and small ones on the same tables."""

    ground: Ground
    material: Material
    large: Tribe
    middle: Tribe
    small: tuple[Tribe, ...]

    def stock(self) -> Stock:
        """Returns what embeds the questions without reckoning."""
        return Stock(self.material.queries, self.material.query_vectors)

    def parameters(self, tribe: Tribe, query: int) -> dict[str, Any]:
        vector = as_text(self.material.query_vectors[query].tolist())
        return {"tribe": tribe.tribe_id, "space": self.ground.space_id, "vector": vector}


def build_town(ground: Ground, material: Material, lessons: int, progress: Progress) -> Town:
    """Fills the ground with `lessons`, vacuums, and builds the large tribe's index as its operator would."""
    progress.step(f"loading {lessons:,} lessons")
    corpus = material.corpus(lessons)
    large = ground.create_tribe("large")
    middle = ground.create_tribe("middle")
    small = tuple(ground.create_tribe(f"small-{number}") for number in range(SMALL))
    begin = lessons // 2
    ground.fill(large, corpus, range(begin))
    ground.fill(middle, corpus, range(begin, begin + MIDDLE))
    begin += MIDDLE
    each = (lessons - begin) // SMALL
    for number, tribe in enumerate(small):
        ground.fill(tribe, corpus, range(begin + number * each, begin + (number + 1) * each))
    ground.settle_statistics()
    progress.step("building the large tribe's index")
    ground.build_index(large)
    return Town(ground=ground, material=material, large=large, middle=middle, small=small)


def measure(town: Town, progress: Progress) -> Measured:
    """Measures how long a recall takes, and what it finds."""
    progress.step("timing recall beside the plain query")
    taken = side_by_side(town)
    progress.step("comparing answers")
    found = (found_at_10(town), _equal_answers(town))
    progress.step("timing exact search")
    return Measured(
        figures=(*timed_figures(town, taken), growth(town), _round_trips(town), *found, _exact_search(town)),
        distributions={name: one.best.values for name, one in taken.items()},
    )


def timed_figures(town: Town, taken: Mapping[str, Timed]) -> tuple[Figure, ...]:
    """Returns what `side_by_side` took as ratios to the plain query, and how far the slowest recalls are from the usual one."""
    plain, vector_part, whole = (taken[name].best for name in ("plain query", "vector part", "whole recall"))
    every = taken["whole recall"].every
    of_every_call = {name: one.every.document() for name, one in taken.items()}
    ef_search = ef_search_of(town.ground.superuser)
    return (
        Figure(
            name="recall: the vector part",
            value=vector_part.median,
            p95=vector_part.p95,
            unit="ms",
            reference=plain.median,
            beside="the plain query",
            target=Target(bound=1.5),
            note=f"nearest_v1, LIMIT {LIMIT}, hnsw.ef_search {ef_search}; the plain query has pgvector's default of 40",
            details={"samples": vector_part.document(), "plain": plain.document()},
        ),
        Figure(
            name="recall: all that the database does",
            value=whole.median,
            p95=whole.p95,
            unit="ms",
            reference=plain.median,
            beside="the plain query",
            target=Target(bound=3.0),
            note="all three sides, a pool of 50, 20 of them whole, read into rows",
            details={"samples": whole.document(), "plain": plain.document()},
        ),
        Figure(
            name="recall: its slowest calls, 95 of 100 under",
            value=every.p95,
            unit="ms",
            reference=every.median,
            beside="its median",
            target=Target(bound=3.0),
            note=f"all that the database does, each of {len(every.values):,} calls; the other lines go by a question's quickest",
            details={"of_every_call": of_every_call},
        ),
    )


def growth(town: Town) -> Figure:
    """Times recalls of the large tribe and of the middle one in turn."""
    queries = range(GROWTH_QUERIES)
    large, middle = overheard(town, town.large, queries), overheard(town, town.middle, queries)
    with town.ground.runtime() as runtime:
        taken = in_turn(
            {
                "large": lambda query: timed(runtime, *large[query], as_records=True),
                "middle": lambda query: timed(runtime, *middle[query], as_records=True),
            },
            queries,
        )
    grown, before = taken["large"].best, taken["middle"].best
    lessons, few = (town.ground.vectors_of(tribe) for tribe in (town.large, town.middle))
    return Figure(
        name=f"recall: growth from {few:,} to {lessons:,} lessons",
        value=grown.median,
        p95=grown.p95,
        unit="ms",
        reference=before.median,
        beside=f"the same in a tribe of {few:,}, searched exactly",
        target=Target(bound=2.5),
        note="all that the database does",
        details={"samples": grown.document(), "before": before.document()},
    )


def found_at_10(town: Town, queries: int = 120) -> Figure:
    """Compares what the index finds of a recall's pool, and of ten, with exact search."""
    share, pooled = _recall_at_10(town, queries)
    return Figure(
        name="recall@10 of the index against exact search",
        value=pooled,
        target=Target(bound=0.97, at_least=True),
        note=f"the ten best among the pool of {POOL} that a recall takes, {queries} questions; of ten alone {share:.3f}",
        details={"of_ten_alone": share},
    )


def _round_trips(town: Town) -> Figure:
    return Figure(
        name="recall: round trips",
        value=round_trips(town.ground, town.stock(), lambda memory: memory.recall(town.large.curator, question(town, 0))),
        target=Target(bound=1),
        note="heard on the wire",
    )


def _equal_answers(town: Town) -> Figure:
    return Figure(
        name=f"recall: answers equal on calls 1 to {CALLS}",
        value=_same_answers(town),
        target=Target(bound=1.0, at_least=True),
        note="share of calls on one connection that gave the first one's rows, large and small tribes in turn",
    )


def _exact_search(town: Town) -> Figure:
    exact, rows = _exact(town)
    return Figure(
        name="recall: exact search, a row",
        value=exact.median * 1000 / rows,
        p95=exact.p95 * 1000 / rows,
        unit="us",
        note=f"over {rows:,} vectors, {exact.median:.0f} ms in all",
        details={"samples": exact.document()},
    )


def question(town: Town, query: int) -> Question:
    return Question(query=town.material.queries[query], limit=LIMIT)


def overheard(town: Town, tribe: Tribe, queries: Sequence[int], **asked: Any) -> list[Call]:
    """Returns the very statements and values that the recall pipeline sends for each query, narrowed by `asked`."""
    with town.ground.memory(town.stock()) as memory:
        database = Overheard(town.ground.runtime_target)
        recaller = replace(memory.recaller, database=database)
        recaller.recall(tribe.curator, question(town, queries[0]))  # what is read once a process, is read here
        database.heard.clear()
        for query in queries:
            recaller.recall(tribe.curator, replace(question(town, query), **asked))
        database.close()
    return list(database.heard)


def side_by_side(town: Town) -> dict[str, Timed]:
    """Times the plain query, the vector part and the whole in turn, on connections set up alike."""
    _require_index(town)
    queries = range(len(town.material.queries))
    wholes = overheard(town, town.large, queries)
    asked = [town.parameters(town.large, query) for query in queries]
    superuser = town.ground.superuser
    with town.ground.runtime() as runtime:
        return in_turn(
            {
                "plain query": lambda query: timed(superuser, PLAIN, asked[query]),
                "vector part": lambda query: timed(superuser, VECTOR_PART, asked[query]),
                "whole recall": lambda query: timed(runtime, *wholes[query], as_records=True),
            },
            queries,
        )


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Milliseconds of each query, a list a round; the first round warmed caches and plans and is left out."""

    rounds: list[list[float]]

    @property
    def best(self) -> Samples:
        return best_of(self.rounds)

    @property
    def every(self) -> Samples:
        return Samples(values=[value for one in self.rounds for value in one])


def in_turn(ways: Mapping[str, Callable[[int], float]], queries: Sequence[int], *, rounds: int = ROUNDS) -> dict[str, Timed]:
    """Times each query in each of some ways, forwards and backwards by turns: what disturbs one, disturbs the others as much."""
    taken: dict[str, list[list[float]]] = {name: [] for name in ways}
    for round_ in range(rounds + 1):
        for kept in taken.values():
            kept.append([])
        for query in queries:
            for name in list(ways)[:: 1 if (round_ + query) % 2 else -1]:
                taken[name][-1].append(ways[name](query))
    return {name: Timed(rounds=kept[1:]) for name, kept in taken.items()}


def timed(
    connection: psycopg.Connection, query: LiteralString, parameters: Mapping[str, Any], *, as_records: bool = False
) -> float:
    """Returns the milliseconds from sending a statement to having its rows, as `store.Database` sends and reads them."""
    cursor: psycopg.Cursor[Any] = connection.cursor(row_factory=dict_row if as_records else tuple_row)
    began = time.perf_counter()
    cursor.execute(query, parameters).fetchall()
    return (time.perf_counter() - began) * 1000


def _require_index(town: Town) -> None:
    """Raises unless the plain query is answered by the tribe's own HNSW index: beside a scan anything would look quick."""
    explained = town.ground.superuser.execute(b"EXPLAIN " + PLAIN.encode(), town.parameters(town.large, 0)).fetchall()
    if not any("lesson_vector_hnsw" in str(line[0]) for line in explained):
        raise RuntimeError("the plain query does not use the tribe's index")


def ef_search_of(connection: psycopg.Connection) -> str:
    row = connection.execute(
        "SELECT tributary.ef_search_v1(%s, max(vectors)) FROM tributary.tribe_space",
        (LIMIT,),
    ).fetchone()
    return "by default" if row is None else str(row[0])


def _recall_at_10(town: Town, queries: int) -> tuple[float, float]:
    """Returns which share of the ten really nearest is found among ten, and among the first ten of a pool."""
    connection = town.ground.superuser
    pooled: LiteralString = VECTOR_PART.replace(", 10,", f", {POOL},")
    hits = pooled_hits = 0
    for query in range(min(queries, len(town.material.queries))):
        parameters = town.parameters(town.large, query)
        truth = set(_ids(connection, EXACT, parameters))
        hits += len(truth & set(_ids(connection, VECTOR_PART, parameters)))
        pooled_hits += len(truth & set(_ids(connection, pooled, parameters)[:LIMIT]))
    asked = min(queries, len(town.material.queries)) * LIMIT
    return hits / asked, pooled_hits / asked


def _ids(connection: psycopg.Connection, query: LiteralString, parameters: Mapping[str, Any]) -> list[UUID]:
    row = connection.execute(query, parameters).fetchone()
    assert row is not None
    return list(row[0])


def _same_answers(town: Town) -> float:
    """Returns the share of repeated calls that gave what the first gave: through one connection, tribes of both sizes in turn.

    A plan that PostgreSQL keeps after some calls knows no tribe; with it a small tribe's search would find next to nothing.
    """
    calls = [call for tribe in (town.large, *town.small[:3]) for call in overheard(town, tribe, range(2))]
    same = 0
    with town.ground.runtime() as connection:
        first = [connection.execute(*call).fetchall() for call in calls]
        if min(len(rows) for rows in first) <= LIMIT:
            raise RuntimeError("a recall found fewer lessons than it was asked for")
        for _ in range(CALLS - 1):
            same += sum(connection.execute(*call).fetchall() == rows for call, rows in zip(calls, first, strict=True))
    return same / (len(calls) * (CALLS - 1))


def _exact(town: Town, queries: int = 12) -> tuple[Samples, int]:
    """Returns milliseconds of exact searches over the large tribe, and how many vectors each compared."""
    asked = [town.parameters(town.large, query) for query in range(queries)]
    rounds = [[timed(town.ground.superuser, EXACT, parameters) for parameters in asked] for _ in range(3)]
    row = town.ground.superuser.execute(EXACT, town.parameters(town.large, 0)).fetchone()
    assert row is not None
    return best_of(rounds), int(row[1])
