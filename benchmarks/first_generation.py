"""The way without a gate, written as well as it can be: each learn is one SERIALIZABLE transaction with an ANN read inside.

So the first generation of this system learned. The transaction reads the nearest believed lessons through an HNSW index, has
them judged, ends those that the new one contradicts, inserts it and commits; refused with 40001, it waits a little and begins
anew. What is tuned: a partial index for each tribe, so that unrelated tribes share none; plans that never scan the table,
which would lock all of it; settings under which locks of rows are not made into one of the table; prepared statements; a wait
that grows with full jitter.

A scan of an index of which PostgreSQL knows no finer predicate locks takes one SIREAD lock on the whole index, and every
insert into it conflicts with whoever holds that. HNSW is such an index (`amroutine->ampredlocks = false`), so any two learns
of a tribe that overlap are a dangerous pair, and one is refused, however little they have to do with one another.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks.corpus import SITUATION, Corpus, Matrix
from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import Judge, JudgedText
from tributary.learn.candidates import NEAREST

PREDICATE_LOCKS: Mapping[str, str] = {
    "max_pred_locks_per_transaction": "512",
    "max_pred_locks_per_relation": "-1",  # as many as a transaction may have, before they become one of the table
    "max_pred_locks_per_page": "64",
}
"""What the server is started with."""
SERIALIZABLE, READ_COMMITTED = "SERIALIZABLE", "READ COMMITTED"
FIRST_WAIT_S = 0.002
LONGEST_WAIT_S = 0.25
SCHEMA = """
CREATE SCHEMA first;
CREATE TABLE first.lesson (
    tribe_id uuid, lesson_id uuid, text text NOT NULL, believed boolean NOT NULL, embedding public.halfvec(384) NOT NULL,
    learned_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (tribe_id, lesson_id));
ALTER TABLE first.lesson ALTER COLUMN embedding SET STORAGE PLAIN"""
INDEX = "CREATE INDEX ON first.lesson USING hnsw (embedding public.halfvec_cosine_ops) WHERE believed AND tribe_id = {tribe}"
NEAR = (
    "SELECT lesson_id, text FROM first.lesson WHERE believed AND tribe_id = {tribe}"
    " ORDER BY embedding OPERATOR(public.<=>) %s LIMIT {near}"
)
END = "UPDATE first.lesson SET believed = false WHERE tribe_id = %s AND lesson_id = ANY (%s) AND believed"
INSERT = "INSERT INTO first.lesson (tribe_id, lesson_id, text, believed, embedding) VALUES (%s, %s, %s, true, %s)"
LOCKS = """
SELECT coalesce(c.relname, '?'), l.locktype, count(*) FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation
WHERE l.mode = 'SIReadLock' AND l.pid = pg_backend_pid() GROUP BY 1, 2 ORDER BY 1, 2"""


@dataclass(frozen=True, kw_only=True)
class Took:
    """What one learn took: how often it was refused, and whether it was at last written without a look."""

    refused: int
    forced: bool = False


@dataclass(frozen=True, kw_only=True)
class Lock:
    """So many SIREAD locks of one kind (`relation`, `page`, `tuple`) that a learn held on one table or index."""

    relation: str
    kind: str
    count: int


class FirstGeneration:
    """Learns that way, one connection a thread.

    attempts    how often a learn is tried before it is inserted without a look, as the first generation did; None for no such
                end. It is correct without one.
    """

    def __init__(self, url: str, *, judge: Judge, attempts: int | None = None, isolation: str = SERIALIZABLE) -> None:
        self._url, self._judge, self._attempts, self._isolation = url, judge, attempts, isolation
        self._own = threading.local()
        self._opened: list[psycopg.Connection] = []

    def close(self) -> None:
        for connection in self._opened:
            connection.close()

    def learn(self, tribe_id: UUID, text: str, embedding: HalfVector) -> Took:
        """Learns a lesson that replaces what it contradicts, and tells what that took."""
        connection, refused = self._connection(), 0
        while self._attempts is None or refused < self._attempts:
            try:
                self._transaction(connection, tribe_id, text, embedding)
                return Took(refused=refused)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                connection.rollback()
                refused += 1
                time.sleep(random.uniform(0, min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**refused)))
        connection.execute(INSERT, (tribe_id, new_id(), text, embedding))
        connection.commit()
        return Took(refused=refused, forced=True)

    def locks(self, tribe_id: UUID, text: str, embedding: HalfVector) -> list[Lock]:
        """Returns the SIREAD locks that a learn holds before its commit; it is rolled back."""
        connection = self._connection()
        self._near(connection, tribe_id, embedding)
        connection.execute(INSERT, (tribe_id, new_id(), text, embedding))
        found = [Lock(relation=name, kind=kind, count=count) for name, kind, count in connection.execute(LOCKS)]
        connection.rollback()
        return found

    def require_index(self, tribe_id: UUID, embedding: HalfVector) -> None:
        """Raises unless the read is answered by the tribe's own HNSW index, in the order that it gives."""
        connection = self._connection()
        lines = [str(row[0]) for row in connection.execute(sql.SQL("EXPLAIN ") + near(tribe_id), (embedding,))]
        connection.rollback()
        if not any("Index Scan using lesson_embedding" in line for line in lines) or any("Sort" in line for line in lines):
            raise RuntimeError(f"the tribe's index is not what answers: {lines}")

    def _transaction(self, connection: psycopg.Connection, tribe_id: UUID, text: str, embedding: HalfVector) -> None:
        candidates = self._near(connection, tribe_id, embedding)
        new = JudgedText(lesson_id=new_id(), text=text, situation=SITUATION, subject=None)
        verdicts = self._judge.judge(new, candidates, timeout_s=None) if candidates else ()
        ended = [verdict.lesson_id for verdict in verdicts if verdict.kind is VerdictKind.CONFLICTS]
        if ended:
            connection.execute(END, (tribe_id, ended))
        connection.execute(INSERT, (tribe_id, new.lesson_id, text, embedding))
        connection.commit()

    def _near(self, connection: psycopg.Connection, tribe_id: UUID, embedding: HalfVector) -> list[JudgedText]:
        rows = connection.execute(near(tribe_id), (embedding,)).fetchall()
        return [JudgedText(lesson_id=lesson_id, text=said, situation=SITUATION, subject=None) for lesson_id, said in rows]

    def _connection(self) -> psycopg.Connection:
        if not hasattr(self._own, "connection"):
            options = f"-c default_transaction_isolation={self._isolation.replace(' ', chr(92) + ' ')}"
            planned = "".join(f" -c enable_{node}=off" for node in ("seqscan", "bitmapscan", "sort"))
            connection = psycopg.connect(self._url, options=options + planned)
            register_vector(connection)
            connection.rollback()
            self._own.connection = connection
            self._opened.append(connection)
        opened: psycopg.Connection = self._own.connection
        return opened


def near(tribe_id: UUID) -> sql.Composed:
    """Returns the read of the nearest: its tribe is a literal, so that the planner knows that its index serves."""
    return sql.SQL(NEAR).format(tribe=sql.Literal(tribe_id), near=sql.Literal(NEAREST))


def make_tables(superuser: psycopg.Connection) -> None:
    for command in SCHEMA.split(";"):
        superuser.execute(command.encode())


def fill(superuser: psycopg.Connection, tribes: Sequence[UUID], corpus: Corpus) -> None:
    """Gives each of the tribes the lessons of the corpus, and an index of its own."""
    register_vector(superuser)
    vectors = halves(corpus.vectors)
    for tribe_id in tribes:
        with (
            superuser.cursor() as cursor,
            cursor.copy("COPY first.lesson (tribe_id, lesson_id, text, believed, embedding) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["uuid", "uuid", "text", "bool", "halfvec"])
            for text, vector in zip(corpus.texts, vectors, strict=True):
                copy.write_row((tribe_id, new_id(), text, True, vector))
        superuser.execute(sql.SQL(INDEX).format(tribe=sql.Literal(tribe_id)))
    superuser.execute("VACUUM (ANALYZE) first.lesson")


def halves(vectors: Matrix) -> list[HalfVector]:
    return [HalfVector(vector) for vector in vectors.astype("float16")]


@contextmanager
def first_generation(
    url: str, *, judge: Judge, attempts: int | None = None, isolation: str = SERIALIZABLE
) -> Iterator[FirstGeneration]:
    """Gives one whose connections are closed afterwards."""
    way = FirstGeneration(url, judge=judge, attempts=attempts, isolation=isolation)
    try:
        yield way
    finally:
        way.close()
