"""mem0ai on its pgvector store, `infer=False`: no language model, so each add is kept as it is.

Everything as the library sets it, but for a pool of as many connections as threads instead of 5.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from mem0 import Memory
from mem0.utils.lemmatization import lemmatize_for_bm25

from benchmarks.peers.contenders.port import ADDED, Given, Place, Said

NEVER_ASKED = "no key"
"""Of the clients for OpenAI that the library makes whether or not they are used; nothing leaves the process (`quiet`)."""


class _Vectors:
    """Stands in for the embedding model, by the library's port."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._given.vector(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        return [self._given.vector(text) for text in texts]


class Mem0:
    """One `Memory` for all threads, as in a server. Its history goes to SQLite in the scratch folder."""

    def __init__(self, place: Place) -> None:
        database = {"connection_string": place.url, "embedding_model_dims": 384, "maxconn": place.threads}
        unused = {"provider": "openai", "config": {"api_key": NEVER_ASKED}}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": database},
                "embedder": unused,
                "llm": unused,
                "history_db_path": str(place.folder / "history.db"),
            }
        )
        self._given = place.given
        self._memory.embedding_model = _Vectors(place.given)
        self._memory.vector_store.list(top_k=1)  # makes the table and its indexes

    def begin(self, scope: str) -> None:
        """Nothing: a scope is a word in each row."""

    def fill(self, scope: str, lessons: Sequence[Said]) -> None:
        """Adds rows by the vector store's own bulk insert, with the payload that `add` would have written."""
        for begin in range(0, len(lessons), 500):
            some = lessons[begin : begin + 500]
            self._memory.vector_store.insert(
                vectors=[self._given.vector(said.whole) for said in some],
                payloads=[_payload(scope, said) for said in some],
                ids=[str(uuid.uuid4()) for _ in some],
            )

    def add(self, number: int, scope: str, said: Said) -> str:
        self._memory.add(said.whole, user_id=scope, metadata=dict(said.tags), infer=False)
        return ADDED

    def search(self, number: int, scope: str, query: str, limit: int, tags: Mapping[str, str]) -> Sequence[str]:
        found = self._memory.search(query, top_k=limit, filters={"user_id": scope, **tags})
        return [hit["memory"] for hit in found["results"]]

    def count(self, scope: str, said: Said) -> int:
        held = self._memory.get_all(filters={"user_id": scope}, top_k=100_000)["results"]
        return sum(one["memory"] == said.whole for one in held)

    def about(self) -> Mapping[str, Any]:
        return {"mem0ai": version("mem0ai"), "psycopg": version("psycopg")}

    def close(self) -> None:
        self._memory.vector_store.connection_pool.close()
        self._memory.close()


def _payload(scope: str, said: Said) -> dict[str, str]:
    now = datetime.now(UTC).isoformat()
    digest = hashlib.md5(said.whole.encode(), usedforsecurity=False).hexdigest()
    made = {"data": said.whole, "hash": digest, "text_lemmatized": lemmatize_for_bm25(said.whole)}
    return {**said.tags, "user_id": scope, "role": "user", **made, "created_at": now, "updated_at": now}
