"""langgraph's PostgresStore with its vector index over the field `text`, everything else as the library sets it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from benchmarks.peers.contenders.port import ADDED, Place, Said


class LangGraph:
    """A store for each thread over one pool, since a store's own lock lets one call through at a time."""

    def __init__(self, place: Place) -> None:
        settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}  # those of `from_conn_string`
        self._pool = ConnectionPool(place.url, min_size=1, max_size=place.threads, kwargs=settings, open=True)
        given = place.given

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [given.vector(text) for text in texts]

        index = {"dims": 384, "embed": embed, "fields": ["text"]}
        self._stores = [PostgresStore(self._pool, index=index) for _ in range(place.threads)]
        self._stores[0].setup()

    def begin(self, scope: str) -> None:
        """Nothing: a scope is a word in each row."""

    def fill(self, scope: str, lessons: Sequence[Said]) -> None:
        for begin in range(0, len(lessons), 200):
            some = lessons[begin : begin + 200]
            self._stores[0].batch([PutOp((scope,), str(uuid.uuid4()), _value(said)) for said in some])

    def add(self, number: int, scope: str, said: Said) -> str:
        """Puts a new item: the key is the caller's to choose, and a memory that says something new has a new one."""
        self._stores[number].put((scope,), str(uuid.uuid4()), _value(said))
        return ADDED

    def search(self, number: int, scope: str, query: str, limit: int, tags: Mapping[str, str]) -> Sequence[str]:
        found = self._stores[number].search((scope,), query=query, limit=limit, filter=dict(tags) or None)
        return [item.value["text"] for item in found]

    def count(self, scope: str, said: Said) -> int:
        return len(self._stores[0].search((scope,), filter={"text": said.whole}, limit=100_000))

    def about(self) -> Mapping[str, Any]:
        names = ("langgraph-checkpoint-postgres", "langgraph-checkpoint", "psycopg")
        return {name: version(name) for name in names}

    def close(self) -> None:
        self._pool.close()


def _value(said: Said) -> dict[str, str]:
    return {"text": said.whole, **said.tags}
