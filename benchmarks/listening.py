"""Ways to listen to the pipelines while they run: what they ask the database, how often, and how long it works on a commit."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg.conninfo import conninfo_to_dict

from benchmarks.ground import DATABASE, Ground
from tests.wire import Relay, Spoken
from tributary.core.ports import Embedder, SpaceDefinition, Vector
from tributary.learn import Learner
from tributary.models.embedders import MiniLmEmbedder
from tributary.service import Memory
from tributary.store import Database, statement

READ = statement("learn", "read")
COMMIT = statement("learn", "commit")
CLOCKED_COMMIT: LiteralString = (
    "WITH done AS MATERIALIZED (SELECT (" + COMMIT + ") AS reply) SELECT reply, (extract(epoch FROM clock_timestamp()"
    " - current_setting('bench.gate_opened')::timestamptz) * 1000)::double precision,"
    " (extract(epoch FROM current_setting('bench.gate_opened')::timestamptz - statement_timestamp()) * 1000)::double precision"
    " FROM done"
)
OPENS: LiteralString = "RETURN opened;"
NOTED: LiteralString = "PERFORM set_config('bench.gate_opened', clock_timestamp()::text, false); RETURN opened;"


class Stock:
    """Stands in for the embedder: gives vectors made beforehand, so that no figure holds the making of one.

    Only what a space is checked with, once a process, is really embedded.
    """

    def __init__(self, texts: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        self._vectors = dict(zip(texts, vectors, strict=True))
        self._model = MiniLmEmbedder()

    @property
    def space(self) -> SpaceDefinition:
        return self._model.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        if any(text not in self._vectors for text in texts):
            return self._model.embed(texts)
        return [self._vectors[text].tolist() for text in texts]


class Overheard(Database):
    """Notes each statement that gives records, with its values."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.heard: list[tuple[LiteralString, Mapping[str, Any]]] = []

    def records(
        self, query: LiteralString, parameters: Mapping[str, object], *, attempts: int | None = None
    ) -> list[dict[str, Any]]:
        self.heard.append((query, dict(parameters)))
        return super().records(query, parameters, attempts=attempts)


@contextmanager
def noted_gate(superuser: psycopg.Connection) -> Iterator[None]:
    """Lets the gate note when it opened, in the session that opened it, for as long as the block runs."""
    row = superuser.execute("SELECT pg_get_functiondef('tributary.gate_v1'::regproc)").fetchone()
    assert row is not None
    gate = str(row[0])
    if gate.count(OPENS) != 1:
        raise RuntimeError("the gate opens otherwise than this bench knows")
    superuser.execute(gate.replace(OPENS, NOTED).encode())
    try:
        yield
    finally:
        superuser.execute(gate.encode())


class Clocked(Database):
    """Times the last learn's reading and commit, both as the caller waits for them, and the work done under the gate.

    `work_ms` is by the server's clock, from the opening of the gate to the end of the commit's function; what PostgreSQL does
    at a transaction's end, the flush to disk above all, comes after. Needs a `noted_gate`.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.reading_ms = self.commit_ms = self.work_ms = 0.0

    def value(self, query: LiteralString, parameters: Mapping[str, object], *, attempts: int | None = None) -> object:
        began = time.perf_counter()
        if query == COMMIT:
            reply, self.work_ms, _ = super().rows(CLOCKED_COMMIT, parameters)[0]
            self.commit_ms = (time.perf_counter() - began) * 1000
            return reply
        reply = super().value(query, parameters, attempts=attempts)
        if query == READ:
            self.reading_ms = (time.perf_counter() - began) * 1000
        return reply


class Waiting(Database):
    """Notes how long each commit waited for the gate, by the server's clock. Threads may share it. Needs a `noted_gate`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.waits_ms: list[float] = []

    def value(self, query: LiteralString, parameters: Mapping[str, object], *, attempts: int | None = None) -> object:
        if query != COMMIT:
            return super().value(query, parameters, attempts=attempts)
        reply, _, wait_ms = super().rows(CLOCKED_COMMIT, parameters)[0]
        self.waits_ms.append(wait_ms)
        return reply


def on_database(learner: Learner, database: Database) -> Learner:
    """Returns a learner that asks `database` for everything."""
    return replace(
        learner,
        database=database,
        admission=replace(learner.admission, database=database),
        decider=replace(learner.decider, database=database),
    )


@contextmanager
def overheard_memory(ground: Ground, embedder: Embedder) -> Iterator[tuple[Memory, Spoken]]:
    """Opens the service over one connection whose wire is listened to, and gives what is spoken there."""
    parts = conninfo_to_dict(ground.url)
    server = f"{parts['host']}/.s.PGSQL.{parts['port']}"
    with tempfile.TemporaryDirectory(prefix="tributary-relay-") as folder, Relay(Path(folder), server) as relay:
        url = f"postgresql://postgres@/{DATABASE}?host={folder}&port=5432"
        with ground.memory(embedder, connections=1, url=url) as memory:
            yield memory, relay.spoken


def round_trips(ground: Ground, embedder: Embedder, act: Callable[[Memory], object]) -> int:
    """Returns how often `act` waits for the database, heard on the wire. It is done once before, so that the process is warm."""
    with overheard_memory(ground, embedder) as (memory, spoken):
        act(memory)
        spoken.clear()
        act(memory)
        return spoken.round_trips
