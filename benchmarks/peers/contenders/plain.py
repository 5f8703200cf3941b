"""Plain SQL: one table, one HNSW index as pgvector makes it by default. The reference of every figure."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg.types.json import Jsonb

from benchmarks.peers.contenders.port import ADDED, Place, Said

SCHEMA: LiteralString = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS lesson (
    id uuid PRIMARY KEY, scope text NOT NULL, text text NOT NULL, tags jsonb NOT NULL, embedding vector(384));
CREATE INDEX IF NOT EXISTS lesson_embedding ON lesson USING hnsw (embedding vector_cosine_ops)"""
ADD: LiteralString = "INSERT INTO lesson (id, scope, text, tags, embedding) VALUES (%s, %s, %s, %s, %s::vector)"
SEARCH: LiteralString = "SELECT text FROM lesson WHERE scope = %s AND tags @> %s ORDER BY embedding <=> %s::vector LIMIT %s"
SEARCH_ALL: LiteralString = "SELECT text FROM lesson WHERE scope = %s ORDER BY embedding <=> %s::vector LIMIT %s"
COUNT: LiteralString = "SELECT count(*) FROM lesson WHERE scope = %s AND text = %s"


class PlainSql:
    """A connection for each thread, every statement a transaction of its own."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._connections: dict[int, psycopg.Connection[Any]] = {}
        self._opening = threading.Lock()
        self._connection(0).execute(SCHEMA)

    def begin(self, scope: str) -> None:
        """Nothing: a scope is a word in each row."""

    def fill(self, scope: str, lessons: Sequence[Said]) -> None:
        with self._connection(0).cursor() as cursor, cursor.connection.transaction():
            cursor.executemany(ADD, [self._row(scope, said) for said in lessons])

    def add(self, number: int, scope: str, said: Said) -> str:
        self._connection(number).execute(ADD, self._row(scope, said))
        return ADDED

    def search(self, number: int, scope: str, query: str, limit: int, tags: Mapping[str, str]) -> Sequence[str]:
        connection, vector = self._connection(number), str(self._place.given.vector(query))
        if tags:
            found = connection.execute(SEARCH, (scope, Jsonb(dict(tags)), vector, limit)).fetchall()
        else:
            found = connection.execute(SEARCH_ALL, (scope, vector, limit)).fetchall()
        return [row[0] for row in found]

    def count(self, scope: str, said: Said) -> int:
        row = self._connection(0).execute(COUNT, (scope, said.whole)).fetchone()
        return int(row[0]) if row else 0

    def about(self) -> Mapping[str, Any]:
        return {"psycopg": psycopg.__version__}

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _row(self, scope: str, said: Said) -> tuple[object, ...]:
        return (uuid.uuid4(), scope, said.whole, Jsonb(dict(said.tags)), str(self._place.given.vector(said.whole)))

    def _connection(self, number: int) -> psycopg.Connection[Any]:
        with self._opening:
            if number not in self._connections:
                self._connections[number] = psycopg.connect(self._place.url, autocommit=True)
            return self._connections[number]
