"""What lessons and tribes take on disk, table by table, and what other tribes' own indexes cost a tribe that has none.

What docs/scale.md reckons from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import LiteralString

import numpy as np
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.corpus import Material
from benchmarks.figures import Figure, Measured, Samples
from benchmarks.ground import Ground, Tribe
from benchmarks.newcomers import FAMILIES, draft_of, stock_of
from benchmarks.progress import Progress
from tributary.core.decision import Outcome
from tributary.core.requests import Question
from tributary.learn.admit import embedded_text
from tributary.models.embedders import MiniLmEmbedder
from tributary.service import Memory
from tributary.spaces import build_index
from tributary.store import OWNER, Target, connect

LESSONS = 1_000
"""Learned one by one by the product, each with an idempotency key, as agents do."""
INDEXED = 20_000
"""Lessons of the tribe whose index is weighed."""
WIDE = 1024
"""Numbers of a vector of Titan v2."""
WIDE_VECTORS = 5_000
TRIBES = 300
"""Made empty, with a curator each."""
NEIGHBOURS = (0, 100, 300)
"""How many other tribes have an index of their own."""
CALLS = 40
LEAST = 100
"""Bytes a lesson from which on a table is told of: less is a page of a table that does not grow with lessons."""
SIZES: LiteralString = """
    SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid)
    FROM pg_class c WHERE c.relnamespace = 'tributary'::regnamespace AND c.relkind = 'r'"""


@dataclass(frozen=True, kw_only=True)
class Bytes:
    table: int
    """With what is kept out of line, and maps."""
    indexes: int

    @property
    def total(self) -> int:
        return self.table + self.indexes

    def __sub__(self, other: Bytes) -> Bytes:
        return Bytes(table=self.table - other.table, indexes=self.indexes - other.indexes)


def measure(ground: Ground, material: Material, progress: Progress) -> Measured:
    progress.step(f"learning {LESSONS:,} lessons one by one, to weigh them")
    figures = list(_of_lessons(ground, material))
    progress.step(f"making {TRIBES:,} empty tribes")
    figures += [_of_tribes(ground), _gardening(ground)]
    progress.step("weighing indexes")
    figures += [_index(ground, material), _wide_index(ground)]
    progress.step("timing calls beside other tribes' indexes")
    figures += _beside_indexes(ground, material)
    return Measured(figures=tuple(figures))


def _of_lessons(ground: Ground, material: Material) -> Iterator[Figure]:
    tribe, corpus = ground.create_tribe("weighed"), material.newcomers(LESSONS, families=range(FAMILIES), seed=3)
    before = _sizes(ground)
    with ground.memory(stock_of([corpus]), connections=1) as memory:
        for number, text in enumerate(corpus.texts):
            learned = memory.learn(tribe.curator, draft_of(text), idempotency_key=f"k{number}")
            if learned.outcome is not Outcome.LEARNED:
                raise RuntimeError(f"an unlike lesson was {learned.outcome}: {learned.reason}")
    grown = {name: size - before[name] for name, size in _sizes(ground).items()}
    every = Bytes(table=sum(one.table for one in grown.values()), indexes=sum(one.indexes for one in grown.values()))
    yield _weight(
        "footprint: a lesson in all tables",
        every,
        LESSONS,
        note=f"{LESSONS:,} learned by the product, a key each; texts of {_mean(corpus.texts)} bytes",
    )
    for name, size in sorted(grown.items(), key=lambda one: -one[1].total):
        if size.total / LESSONS >= LEAST:
            yield _weight(f"footprint: a lesson in {name}", size, LESSONS)


def _of_tribes(ground: Ground) -> Figure:
    before = _sizes(ground)
    for number in range(TRIBES):
        ground.create_tribe(f"empty-{number}")
    grown = [size - before[name] for name, size in _sizes(ground).items()]
    every = Bytes(table=sum(one.table for one in grown), indexes=sum(one.indexes for one in grown))
    return _weight("footprint: an empty tribe", every, TRIBES, note="with its curator and a token")


def _gardening(ground: Ground) -> Figure:
    """Times the gardener in tribes where it has nothing to do, as most have when it comes."""
    with ground.memory(MiniLmEmbedder(), connections=1) as memory:
        memory.gardener.run_all(budget_s=None)
        report = memory.gardener.run_all(budget_s=None)
    spent = Samples(values=[one.ms for one in report.tribes])
    return Figure(name="footprint: the gardener in an idle tribe", value=spent.median, p95=spent.p95, unit="ms")


def _index(ground: Ground, material: Material) -> Figure:
    tribe = ground.create_tribe("indexed")
    ground.fill(tribe, material.corpus(INDEXED, seed=5), range(INDEXED))
    ground.settle_statistics()
    ground.build_index(tribe)
    row = ground.superuser.execute(
        "SELECT sum(pg_relation_size(i.indexrelid)) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw' AND i.indrelid = 'tributary.lesson_vector'::regclass"
    ).fetchone()
    return Figure(
        name="footprint: HNSW index, 384 dimensions",
        value=int(row[0]) / INDEXED if row else 0.0,
        unit="bytes",
        note=f"a vector of half precision, m = 16; built by the product over {INDEXED:,}",
    )


def _wide_index(ground: Ground) -> Figure:
    """Weighs the same index over wide vectors, in a table of its own: its size depends on their width, not on what they say."""
    with connect(Target(url=ground.url)) as connection:
        register_vector(connection)
        connection.execute(f"CREATE TEMPORARY TABLE wide (embedding public.halfvec({WIDE}))".encode())
        vectors = np.random.default_rng(1).standard_normal((WIDE_VECTORS, WIDE)).astype(np.float16)
        with connection.cursor() as cursor, cursor.copy("COPY wide FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["halfvec"])
            for vector in vectors:
                copy.write_row((HalfVector(vector),))
        connection.execute("SET maintenance_work_mem = '128MB'")
        connection.execute(
            "CREATE INDEX wide_index ON wide USING hnsw (embedding public.halfvec_cosine_ops)"
            " WITH (m = 16, ef_construction = 200)"
        )
        row = connection.execute("SELECT pg_relation_size('wide_index')").fetchone()
    return Figure(
        name=f"footprint: HNSW index, {WIDE:,} dimensions",
        value=int(row[0]) / WIDE_VECTORS if row else 0.0,
        unit="bytes",
        note=f"a vector of half precision, m = 16; over {WIDE_VECTORS:,} at random",
    )


def _beside_indexes(ground: Ground, material: Material) -> Iterator[Figure]:
    """Times a small tribe's calls while ever more other tribes have indexes: each is one more that a plan has to rule out."""
    small, others = ground.create_tribe("beside"), [ground.create_tribe(f"other-{n}") for n in range(max(NEIGHBOURS))]
    ground.fill(small, material.corpus(200, seed=6), range(200))
    for number, tribe in enumerate(others):
        ground.fill(tribe, material.corpus(2, seed=number), range(2))
    corpus = material.newcomers(CALLS * len(NEIGHBOURS), families=range(8), seed=9)
    built = 0
    timed: list[tuple[int, Samples, Samples]] = []
    with ground.memory(stock_of([corpus]), connections=1) as memory, connect(Target(url=ground.url, assume=OWNER)) as owner:
        for turn, count in enumerate(NEIGHBOURS):
            for tribe in others[built:count]:
                build_index(owner, tribe.tribe_id, exact_limit=0)
            built = count
            texts = corpus.texts[turn * CALLS : (turn + 1) * CALLS]
            timed.append((count, *_timed(memory, small, texts)))
    (_, recall, learn), *rest = timed
    for count, recalls, learns in rest:
        for what, one, reference in (("recall", recalls, recall), ("learn", learns, learn)):
            yield Figure(
                name=f"footprint: {what} beside {count} tribes with indexes",
                value=one.median,
                p95=one.p95,
                unit="ms",
                reference=reference.median,
                beside="none has one",
                note="in a tribe of 200, searched exactly, embedding left out",
                details={"samples": one.document()},
            )


def _timed(memory: Memory, tribe: Tribe, texts: list[str]) -> tuple[Samples, Samples]:
    questions = [Question(query=embedded_text(draft_of(text))) for text in texts]
    recalls = [_ms(partial(memory.recall, tribe.curator, one)) for one in questions]
    learns = [_ms(partial(memory.learn, tribe.curator, draft_of(text))) for text in texts]
    return Samples(values=recalls), Samples(values=learns)


def _ms(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _sizes(ground: Ground) -> Mapping[str, Bytes]:
    """Returns the size of each table once what was overwritten is cleared away."""
    ground.settle_statistics()
    return {str(name): Bytes(table=int(table), indexes=int(indexes)) for name, table, indexes in ground.superuser.execute(SIZES)}


def _mean(texts: Sequence[str]) -> int:
    return round(sum(len(text.encode()) for text in texts) / len(texts))


def _weight(name: str, size: Bytes, count: int, *, note: str = "") -> Figure:
    split = f"{size.table / count:,.0f} in the table, {size.indexes / count:,.0f} in its indexes"
    return Figure(name=name, value=size.total / count, unit="bytes", note=f"{split}; {note}" if note else split)
