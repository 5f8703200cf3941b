"""A tribe's own HNSW index. None spans tribes: equal vectors in one tribe would trap the scans of another."""

from __future__ import annotations

from typing import cast
from uuid import UUID

import psycopg
from psycopg import sql

from tributary.core.errors import NotFound
from tributary.store import Database, statement

EXACT_LIMIT = 10_000
"""Believed vectors up to which a tribe is scanned exactly: complete, and about as fast as an index there."""

BUILD_MEMORY = "512MB"
BATCH = 500


def index_fresh(database: Database, tribe_id: UUID, *, most: int = BATCH) -> int:
    """Puts up to `most` vectors learned since into the tribe's index; returns how many. Recall finds them either way."""
    return cast(int, database.value(statement("spaces", "index_fresh"), {"tribe_id": tribe_id, "limit": most}))


def build_index(
    connection: psycopg.Connection, tribe_id: UUID, *, exact_limit: int = EXACT_LIMIT, space_id: int | None = None
) -> bool:
    """Builds the tribe's index CONCURRENTLY when it has outgrown exact search, and tells whether it has one now.

    The index is that of one of its spaces, of the one that it serves from when none is named.

    `connection` acts as the owner, autocommits, and goes straight to the server. Learn and recall go on meanwhile; an index
    that an earlier, interrupted build left invalid is dropped and built again.
    """
    row = connection.execute(statement("spaces", "index_state"), {"tribe_id": tribe_id, "space_id": space_id}).fetchone()
    if row is None:
        raise NotFound("the tribe serves from no embedding space")
    vectors, space_id, dimension, name, valid = row
    if valid:
        return True
    if vectors <= exact_limit:
        return False
    index = sql.Identifier("tributary", name)
    batch = {"tribe_id": tribe_id, "space_id": space_id, "limit": BATCH}
    while connection.execute(statement("spaces", "index_vectors"), batch).fetchone() != (0,):
        pass  # in batches, so that no commit waits for long; those that are learned meanwhile the gardener adds
    connection.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")  # a graph that outgrows it is built many times slower
    if valid is not None:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(index))
    connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY {name} ON tributary.lesson_vector"
            " USING hnsw ((embedding::public.halfvec({dimension})) public.halfvec_cosine_ops)"
            " WITH (m = 16, ef_construction = 200)"
            " WHERE tribe_id = {tribe_id} AND space_id = {space_id} AND believed AND indexed"
        ).format(
            name=sql.Identifier(name),
            dimension=sql.Literal(dimension),
            tribe_id=sql.Literal(str(tribe_id)),
            space_id=sql.Literal(space_id),
        )
    )
    connection.execute("ANALYZE tributary.lesson_vector")  # else the planner takes what it knew before for few indexed vectors
    return True


def drop_index(connection: psycopg.Connection, tribe_id: UUID, space_id: int) -> None:
    """Removes the tribe's index in a space, if it has one, while others go on. `connection` is as for `build_index`."""
    row = connection.execute(statement("spaces", "index_state"), {"tribe_id": tribe_id, "space_id": space_id}).fetchone()
    if row is not None:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier("tributary", row[3])))
