"""Fills a migrated database with lessons by COPY, past the pipeline: a bench of reads needs the rows, not their making."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psycopg

from benchmarks.corpus import Corpus
from tributary.core.ids import new_id
from tributary.core.terms import terms_of

SITUATION = "operating the platform"


def load_lessons(
    connection: psycopg.Connection, *, tribe_id: UUID, agent_id: UUID, space_id: int, corpus: Corpus, rows: Sequence[int]
) -> None:
    """Adds the corpus' lessons `rows` to a tribe as believed ones, one tick each, counters included.

    `connection` is a superuser's: triggers and foreign keys are skipped, so the counters are written here.
    """
    ids = [new_id() for _ in rows]
    at = datetime.now(UTC)
    start = connection.execute("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", (tribe_id,)).fetchone()
    assert start is not None
    first = int(start[0]) + 1
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        with cursor.copy(
            "COPY tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, tags, source_how, source_ref,"
            " evidence, confidence, content_hash, learned_tick, learned_at, activated_tick, activated_at) FROM STDIN"
        ) as copy:
            for offset, (row, lesson_id) in enumerate(zip(rows, ids, strict=True)):
                text = corpus.texts[row]
                digest = hashlib.sha256(f"{row}".encode()).digest()
                copy.write_row(
                    (tribe_id, lesson_id, agent_id, "gotcha", "active", text, SITUATION, "{}", "observed", "run:bench", "[]",
                     0.7, digest, first + offset, at, first + offset, at)
                )  # fmt: skip
        with cursor.copy(
            "COPY tributary.lesson_vector (tribe_id, space_id, lesson_id, believed, embedding) FROM STDIN"
        ) as copy:
            for row, lesson_id in zip(rows, ids, strict=True):
                copy.write_row((tribe_id, space_id, lesson_id, True, as_halfvec(corpus.vectors[row])))
        with cursor.copy("COPY tributary.lesson_term (tribe_id, term, lesson_id) FROM STDIN") as copy:
            for row, lesson_id in zip(rows, ids, strict=True):
                for term in terms_of(f"{SITUATION}\n{corpus.texts[row]}"):
                    copy.write_row((tribe_id, term, lesson_id))
        with cursor.copy(
            "COPY tributary.lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at) FROM STDIN"
        ) as copy:
            for offset, lesson_id in enumerate(ids):
                copy.write_row((tribe_id, first + offset, 1, lesson_id, "learned", "active", agent_id, at))
        cursor.execute("UPDATE tributary.tribe SET clock = clock + %s, clock_at = %s WHERE tribe_id = %s", (len(ids), at, tribe_id))
        cursor.execute(
            "INSERT INTO tributary.tribe_count AS c (tribe_id, status, lessons) VALUES (%s, 'active', %s)"
            " ON CONFLICT (tribe_id, status) DO UPDATE SET lessons = c.lessons + excluded.lessons",
            (tribe_id, len(ids)),
        )
        cursor.execute(
            "UPDATE tributary.tribe_space SET vectors = vectors + %s WHERE tribe_id = %s AND space_id = %s",
            (len(ids), tribe_id, space_id),
        )


def as_halfvec(vector: np.ndarray[tuple[int], np.dtype[np.float32]]) -> str:
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"
