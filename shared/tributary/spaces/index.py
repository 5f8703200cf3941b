"""A tribe's own HNSW indexes. None spans tribes: equal vectors in one tribe would trap the scans of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from tributary.core.errors import NotFound
from tributary.store import Database, statement

EXACT_LIMIT = 10_000
"""Believed vectors up to which a tribe is scanned exactly: complete, and about as fast as an index there."""

PAST_LIMIT = 2000
"""Vectors of lessons that were believed once, up to which a tribe with an index compares them one by one."""
MOST_MEMORY = 2 * 1024**3
"""Bytes that one build may take. A graph that outgrows them is built many times slower."""
BATCH = 500


def index_fresh(database: Database, tribe_id: UUID, *, most: int = BATCH) -> int:
    """Puts up to `most` vectors learned since into the tribe's index; returns how many. Recall finds them either way."""
    return cast(int, database.value(statement("spaces", "index_fresh"), {"tribe_id": tribe_id, "limit": most}))


def build_index(
    connection: psycopg.Connection, tribe_id: UUID, *, exact_limit: int = EXACT_LIMIT, space_id: int | None = None
) -> bool:
    """Builds the tribe's indexes CONCURRENTLY when it has outgrown exact search, and tells whether believed lessons have one now.

    One index is over believed lessons, another, for reads as of the past, over those that were believed once; both are of one of
    its spaces, of the one that it serves from when none is named. `connection` acts as the owner, autocommits, and goes straight
    to the server. Learn and recall go on meanwhile; an index that an earlier, interrupted build left invalid is dropped and
    built again.
    """
    found = _states(connection, tribe_id, space_id)
    if not found:
        raise NotFound("the tribe serves from no embedding space")
    believed, past = found
    if not _build(connection, tribe_id, believed, exact_limit):
        return False
    _build(connection, tribe_id, past, min(exact_limit, PAST_LIMIT))
    return True


def outgrown(connection: psycopg.Connection, *, exact_limit: int = EXACT_LIMIT) -> tuple[str, ...]:
    """Returns the names of the tribes for which `build_index` has something to build, the smallest first."""
    limits = {"exact_limit": exact_limit, "past_limit": min(exact_limit, PAST_LIMIT)}
    return tuple(name for (name,) in connection.execute(statement("spaces", "outgrown"), limits).fetchall())


@dataclass(frozen=True, kw_only=True)
class _State:
    """One of a tribe's two indexes: `valid` is None where there is none."""

    space_id: int
    dimension: int
    past: bool
    vectors: int
    name: str
    valid: bool | None


def drop_index(connection: psycopg.Connection, tribe_id: UUID, space_id: int) -> None:
    """Removes the tribe's indexes in a space, if it has any, while others go on. `connection` is as for `build_index`."""
    for one in _states(connection, tribe_id, space_id):
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier("tributary", one.name)))


def _states(connection: psycopg.Connection, tribe_id: UUID, space_id: int | None) -> list[_State]:
    """Returns the two indexes that a tribe may have in a space, that of believed lessons first; none without such a space."""
    parameters = {"tribe_id": tribe_id, "space_id": space_id}
    return connection.cursor(row_factory=class_row(_State)).execute(statement("spaces", "index_state"), parameters).fetchall()


def _build(connection: psycopg.Connection, tribe_id: UUID, state: _State, exact_limit: int) -> bool:
    if state.valid:
        return True
    if state.vectors <= exact_limit:
        return False
    index = sql.Identifier("tributary", state.name)
    batch = {"tribe_id": tribe_id, "space_id": state.space_id, "past": state.past, "limit": BATCH}
    while connection.execute(statement("spaces", "index_vectors"), batch).fetchone() != (0,):
        pass  # in batches, so that no commit waits for long; those that come meanwhile the gardener adds
    connection.execute(f"SET maintenance_work_mem = '{_memory_kb(state)}kB'".encode())
    if state.valid is not None:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(index))
    connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY {name} ON tributary.lesson_vector"
            " USING hnsw ((embedding::public.halfvec({dimension})) public.halfvec_cosine_ops)"
            " WITH (m = 16, ef_construction = 200)"
            " WHERE tribe_id = {tribe_id} AND space_id = {space_id} AND {which} AND indexed"
        ).format(
            name=sql.Identifier(state.name),
            dimension=sql.Literal(state.dimension),
            tribe_id=sql.Literal(str(tribe_id)),
            space_id=sql.Literal(state.space_id),
            which=sql.SQL("NOT believed" if state.past else "believed"),
        )
    )
    # What waited leaves dead entries where waiting vectors are looked up, and each recall would go through them; and without new
    # statistics the planner takes what it knew before for few indexed vectors.
    connection.execute("VACUUM (ANALYZE) tributary.lesson_vector")
    return True


def _memory_kb(state: _State) -> int:
    """Returns what the graph takes in memory, with its vectors and some 600 bytes of links and bookkeeping each."""
    return max(64 * 1024, min(MOST_MEMORY, state.vectors * (2 * state.dimension + 600)) // 1024)
