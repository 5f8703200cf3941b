"""Fills a migrated database with lessons by COPY, past the pipeline: a bench of reads needs the rows, not their making."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.corpus import SITUATION, Corpus
from tributary.core.ids import new_id
from tributary.core.terms import terms_of

PARTS = 100
"""Each lesson is tagged with one of so many parts, a filter that lets one in a hundred through, and with one of two halves."""
LESSON = (
    "tribe_id, lesson_id, agent_id, kind, status, text, situation, tags, source_how, source_ref, evidence, confidence,"
    " content_hash, learned_tick, learned_at, activated_tick, activated_at"
)


@dataclass(frozen=True, kw_only=True)
class _Load:
    """One tribe's rows for each table; the first lesson is learned at tick `first`, one tick each."""

    tribe_id: UUID
    agent_id: UUID
    space_id: int
    corpus: Corpus
    rows: Sequence[int]
    ids: Sequence[UUID]
    first: int
    at: datetime

    def lessons(self) -> Iterator[tuple[object, ...]]:
        for tick, (row, lesson_id) in enumerate(zip(self.rows, self.ids, strict=True), self.first):
            digest = hashlib.sha256(self.corpus.texts[row].encode()).digest()
            tags = json.dumps({"part": str(row % PARTS), "half": str(row % 2)})
            said = ("gotcha", "active", self.corpus.texts[row], SITUATION, tags, "observed", "run:bench", "[]", 0.7)
            yield (self.tribe_id, lesson_id, self.agent_id, *said, digest, tick, self.at, tick, self.at)

    def vectors(self) -> Iterator[tuple[object, ...]]:
        halves = self.corpus.vectors[list(self.rows)].astype(np.float16)
        for lesson_id, half in zip(self.ids, halves, strict=True):
            yield (self.tribe_id, self.space_id, lesson_id, True, HalfVector(half))

    def terms(self) -> Iterator[tuple[object, ...]]:
        """In the order of the table's key: rows at random would be inserted several times slower."""
        every: list[tuple[str, int, UUID]] = []
        for tick, (row, lesson_id) in enumerate(zip(self.rows, self.ids, strict=True), self.first):
            every += [(term, tick, lesson_id) for term in terms_of(f"{SITUATION}\n{self.corpus.texts[row]}")]
        every.sort()
        return ((self.tribe_id, term, tick, lesson_id) for term, tick, lesson_id in every)

    def events(self) -> Iterator[tuple[object, ...]]:
        for tick, lesson_id in enumerate(self.ids, self.first):
            yield (self.tribe_id, tick, 1, lesson_id, "learned", "active", self.agent_id, self.at)


def load_lessons(
    connection: psycopg.Connection, *, tribe_id: UUID, agent_id: UUID, space_id: int, corpus: Corpus, rows: Sequence[int]
) -> list[UUID]:
    """Adds the corpus' lessons `rows` to a tribe as believed ones, one tick each, counters included; returns their ids.

    `connection` is a superuser's: triggers and foreign keys are skipped, so the counters are written here.
    """
    start = connection.execute("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", (tribe_id,)).fetchone()
    assert start is not None
    load = _Load(
        tribe_id=tribe_id,
        agent_id=agent_id,
        space_id=space_id,
        corpus=corpus,
        rows=rows,
        ids=[new_id() for _ in rows],
        first=int(start[0]) + 1,
        at=datetime.now(UTC),
    )
    register_vector(connection)
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        _copy(cursor, f"lesson ({LESSON})", load.lessons())
        vector_types = ("uuid", "int4", "uuid", "bool", "halfvec")
        _copy(cursor, "lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)", load.vectors(), vector_types)
        term_types = ("uuid", "text", "int8", "uuid")
        _copy(cursor, "lesson_term (tribe_id, term, since_tick, lesson_id)", load.terms(), term_types)
        cursor.execute(
            "INSERT INTO tributary.lesson_facet (tribe_id, facet, lesson_id)"
            " SELECT l.tribe_id, f.facet, l.lesson_id FROM tributary.lesson l, unnest(tributary.facets_v1(l)) AS f(facet)"
            " WHERE l.tribe_id = %s AND l.learned_tick >= %s ORDER BY f.facet, l.lesson_id",
            (tribe_id, load.first),
        )
        _copy(cursor, "lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at)", load.events())
        cursor.execute(
            "UPDATE tributary.tribe SET clock = clock + %s, clock_at = %s WHERE tribe_id = %s", (len(rows), load.at, tribe_id)
        )
        cursor.execute(
            "INSERT INTO tributary.tribe_count AS c (tribe_id, status, lessons) VALUES (%s, 'active', %s)"
            " ON CONFLICT (tribe_id, status) DO UPDATE SET lessons = c.lessons + excluded.lessons",
            (tribe_id, len(rows)),
        )
        cursor.execute(
            "UPDATE tributary.tribe_space SET vectors = vectors + %s WHERE tribe_id = %s AND space_id = %s",
            (len(rows), tribe_id, space_id),
        )
    return list(load.ids)


def _copy(cursor: psycopg.Cursor, into: str, rows: Iterator[tuple[object, ...]], types: Sequence[str] | None = None) -> None:
    """Copies `rows` in; in binary when `types` names the columns'."""
    form = " (FORMAT BINARY)" if types else ""
    with cursor.copy(f"COPY tributary.{into} FROM STDIN{form}".encode()) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)
