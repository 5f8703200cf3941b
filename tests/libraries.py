"""A tribe that has outgrown exact search, filled past the pipeline, whose vectors tests choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg

from benchmarks.corpus import Corpus
from benchmarks.load import load_lessons
from tests.tribes import Tribal, open_tribal
from tributary.core.lesson import How, Kind
from tributary.core.ports import SpaceDefinition, Vector
from tributary.core.requests import Question, Recalled
from tributary.spaces import build_index

WIDTH = 48
LESSONS = 3000
EXACT = 500
"""The tribe has outgrown it, and some of its filters have not."""


SPACE = SpaceDefinition(model="numbered", pooling="none", windowing="none", quantisation="none", dimension=WIDTH, floor=-1.0)
"""Nothing is under its floor: as many lessons are hits as a search can find."""


class Numbered:
    """Embeds "... #n" as the n-th vector of a table, so that tests choose what is near."""

    def __init__(self, vectors: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        self.vectors = vectors
        self.space = SPACE

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        return [self.vectors[int(text.rpartition("#")[2]) if "#" in text else len(text)].tolist() for text in texts]


def unit(rng: np.random.Generator, count: int, around: np.ndarray[Any, Any] | None = None, noise: float = 1.0) -> Any:
    drawn = rng.standard_normal((count, WIDTH)).astype(np.float32) * noise
    if around is not None:
        drawn = drawn / np.sqrt(WIDTH) + around
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@dataclass(frozen=True, kw_only=True)
class Library:
    """A tribe with lessons of every kind, source, author and tag, an index, and some that ended."""

    tribal: Tribal
    ids: list[UUID]

    def ask(self, number: int, *, exact: bool = False, **fields: Any) -> Recalled:
        recaller = self.tribal.memory.recaller
        if exact:
            recaller = replace(recaller, exact_limit=2**62)
        question = replace(Question(query=f"zz #{number}", limit=10), **fields)
        return recaller.recall(self.tribal.curator, question)


@contextmanager
def open_library(url: str) -> Iterator[Library]:
    rng = np.random.default_rng(3)
    centres = unit(rng, 60)
    vectors = unit(rng, LESSONS, centres[rng.integers(0, 60, LESSONS)], 0.8)
    queries = unit(rng, 200, centres[rng.integers(0, 60, 200)], 0.5)
    with open_tribal(url, embedder=Numbered(queries), exact_limit=EXACT) as tribal:
        other = tribal.agent("other")
        with psycopg.connect(url, autocommit=True) as connection:
            corpus = Corpus(texts=[f"lesson{number}x" for number in range(LESSONS)], vectors=vectors)
            space = tribal.rows("SELECT space_id FROM tributary.space")[0]["space_id"]
            ids = load_lessons(
                connection,
                tribe_id=tribal.tribe_id,
                agent_id=tribal.curator.agent_id,
                space_id=int(str(space)),
                corpus=corpus,
                rows=range(LESSONS),
            )
            _vary(connection, tribal, other.agent_id)
            assert build_index(connection, tribal.tribe_id, exact_limit=EXACT)
        yield Library(tribal=tribal, ids=ids)


def _vary(connection: psycopg.Connection, tribal: Tribal, other: UUID) -> None:
    """Gives lessons unlike kinds, sources, authors, subjects and tags, and ends some, as commits would over time."""
    connection.execute("SET session_replication_role = replica")
    connection.execute(
        """UPDATE tributary.lesson SET
            kind = (ARRAY['gotcha', 'observation', 'resolution'])[1 + mod(learned_tick, 3)],
            source_how = CASE mod(learned_tick, 50) WHEN 0 THEN 'told' ELSE 'observed' END,
            agent_id = CASE mod(learned_tick, 7) WHEN 0 THEN %s ELSE agent_id END,
            subject = CASE mod(learned_tick, 40) WHEN 0 THEN 'Part 1' END,
            subject_key = CASE mod(learned_tick, 40) WHEN 0 THEN 'part 1' END,
            tags = jsonb_build_object('env', CASE mod(learned_tick, 2) WHEN 0 THEN 'prod' ELSE 'dev' END,
                                      'part', mod(learned_tick, 100)::text)
           WHERE tribe_id = %s""",
        (other, tribal.tribe_id),
    )
    connection.execute("DELETE FROM tributary.lesson_facet")
    connection.execute(
        "INSERT INTO tributary.lesson_facet (tribe_id, facet, lesson_id)"
        " SELECT DISTINCT l.tribe_id, f, l.lesson_id FROM tributary.lesson l, unnest(tributary.facets_v1(l)) f"
    )
    connection.execute("SET session_replication_role = origin")
    connection.execute("ANALYZE tributary.lesson")
    connection.execute("ANALYZE tributary.lesson_vector")


def end(tribal: Tribal, every: int) -> int:
    """Ends every n-th lesson, all in one tick, and returns the tick before it."""
    with psycopg.connect(tribal.url, autocommit=True) as connection, connection.transaction():
        row = connection.execute("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", (tribal.tribe_id,)).fetchone()
        assert row is not None
        before = int(row[0])
        connection.execute("SELECT tributary.advance_v1(%s)", (tribal.tribe_id,))
        connection.execute(
            "WITH ended AS ("
            " UPDATE tributary.lesson SET status = 'retired', deactivated_tick = %s, deactivated_at = clock_timestamp()"
            " WHERE tribe_id = %s AND believed AND mod(learned_tick, %s) = 0 RETURNING lesson_id, agent_id)"
            " INSERT INTO tributary.lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at)"
            " SELECT %s, %s, row_number() OVER (), lesson_id, 'retired', 'retired', agent_id, clock_timestamp() FROM ended",
            (before + 1, tribal.tribe_id, every, tribal.tribe_id, before + 1),
        )
    return before


def replace_lesson(tribal: Tribal, old: UUID) -> UUID:
    """Has a lesson replaced by another one with the very same vector, in one tick, and returns the new one's id."""
    with psycopg.connect(tribal.url, autocommit=True) as connection, connection.transaction():
        row = connection.execute(
            "SELECT tick, at, gen_random_uuid() FROM tributary.advance_v1(%s)", (tribal.tribe_id,)
        ).fetchone()
        assert row is not None
        tick, at, new = row
        connection.execute(
            "INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how,"
            " confidence, content_hash, learned_tick, learned_at)"
            " SELECT tribe_id, %s, agent_id, kind, 'pending', text, situation, source_how, confidence, sha256(%s::text::bytea),"
            " %s, %s FROM tributary.lesson WHERE tribe_id = %s AND lesson_id = %s",
            (new, str(new), tick, at, tribal.tribe_id, old),
        )
        connection.execute(
            "INSERT INTO tributary.lesson_vector (tribe_id, space_id, lesson_id, believed, embedding)"
            " SELECT tribe_id, space_id, %s, false, embedding FROM tributary.lesson_vector"
            " WHERE tribe_id = %s AND lesson_id = %s",
            (new, tribal.tribe_id, old),
        )
        for status, lesson, what in (("retired", old, "deactivated"), ("active", new, "activated")):
            connection.execute(
                f"UPDATE tributary.lesson SET status = %s, {what}_tick = %s, {what}_at = %s"
                " WHERE tribe_id = %s AND lesson_id = %s".encode(),
                (status, tick, at, tribal.tribe_id, lesson),
            )
    return UUID(str(new))


FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "half by a tag": {"tags": {"env": "prod"}},
    "one in a hundred by a tag": {"tags": {"part": "7"}},
    "two tags": {"tags": {"part": "8", "env": "prod"}},
    "two tags that no lesson has both of": {"tags": {"part": "8", "env": "dev"}},
    "a tag that none has": {"tags": {"nobody": "x"}},
    "a third by kind": {"kinds": (Kind.GOTCHA,)},
    "two thirds by kinds": {"kinds": (Kind.GOTCHA, Kind.RESOLUTION)},
    "a kind that none is of": {"kinds": (Kind.REJECTED_HYPOTHESIS,)},
    "one in fifty by source": {"sources": (How.TOLD,)},
    "one in seven by author": {"agent": "other"},
    "by subject": {"subject": "part 1"},
    "several": {"kinds": (Kind.GOTCHA,), "agent": "curator", "tags": {"env": "dev"}, "sources": (How.OBSERVED,)},
}


def embedder_of(library: Library) -> Numbered:
    embedder = library.tribal.adapters.embedder
    assert isinstance(embedder, Numbered)
    return embedder


def scans_of(tribal: Tribal, index: str) -> int:
    """Returns how often an index was scanned, all sessions together; they report within a second, or when they end."""
    tribal.memory.database.close()
    object.__setattr__(tribal.memory.database, "_closed", False)
    rows = tribal.rows("SELECT pg_stat_force_next_flush(), idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", index)
    return int(str(rows[0]["idx_scan"]))


def set_narrow_limit(tribal: Tribal, most: int) -> None:
    tribal.rows(
        "CREATE OR REPLACE FUNCTION tributary.narrow_limit_v1(p_vectors bigint, p_limit integer) RETURNS bigint"
        f" LANGUAGE sql IMMUTABLE AS $$ SELECT {most}::bigint $$"
    )


def set_portion(tribal: Tribal, portion: int) -> None:
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_get_functiondef('tributary.exact_v1'::regproc)").fetchone()
        assert row is not None
        connection.execute(str(row[0]).replace("bigint := 20000", f"bigint := {portion}").encode())
