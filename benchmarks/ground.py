"""Where benches and evals are run: an embedded PostgreSQL of their own in a temporary home, and tribes with lessons on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg
from psycopg import sql

from benchmarks.corpus import Corpus
from benchmarks.load import load_lessons
from tributary.core.agent import Agent, Principal, Role
from tributary.core.ports import Embedder, Judge, Screen
from tributary.models.embedders import MiniLmEmbedder
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.wiring import Adapters
from tributary.store import RUNTIME, Target, connect
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

DATABASE = "bench"
CONNECTIONS: Mapping[str, str] = {"max_connections": "200"}
"""A setting of PostgreSQL for benches of more threads than a laptop's server takes connections."""


@dataclass(frozen=True, kw_only=True)
class Tribe:
    name: str
    tribe_id: UUID
    curator: Principal


class Ground:
    """A migrated database. Its tribes' names begin with `prefix`, and they serve from the space of `embedder`."""

    def __init__(self, url: str, *, embedder: Embedder | None = None, prefix: str = "") -> None:
        self.url = url
        self._prefix = prefix
        migrate(Target(url=url))
        self._owner = connect(Target(url=url))
        self.operator = open_operator(self._settings(1), adapters=Adapters(embedder=embedder or MiniLmEmbedder()))

    def close(self) -> None:
        self.operator.close()
        self._owner.close()

    @property
    def superuser(self) -> psycopg.Connection:
        """The one connection that looks behind the product's back."""
        return self._owner

    @property
    def runtime_target(self) -> Target:
        """Where and as whom the service connects."""
        return Target(url=self.url, assume=RUNTIME)

    def runtime(self) -> psycopg.Connection:
        return connect(self.runtime_target)

    def memory(
        self,
        embedder: Embedder,
        *,
        connections: int = 40,
        url: str | None = None,
        judge: Judge | None = None,
        screen: Screen | None = None,
        exact_limit: int | None = None,
    ) -> Memory:
        """Opens the service on the ground; `url` is another way to the same database, None for others is the laptop's."""
        settings = self._settings(connections, url)
        if exact_limit is not None:
            settings = settings.model_copy(update={"exact_limit": exact_limit})
        return open_memory(settings, adapters=Adapters(embedder=embedder, judge=judge, screen=screen))

    def create_tribe(self, name: str) -> Tribe:
        made = self.operator.create_tribe(self._prefix + name)
        return Tribe(
            name=made.tribe.name, tribe_id=made.tribe.tribe_id, curator=_principal(made.tribe.tribe_id, made.token.agent)
        )

    def create_writer(self, tribe: Tribe, name: str, role: Role = Role.WRITER) -> Principal:
        return _principal(tribe.tribe_id, self.operator.create_agent(tribe.name, name, role).agent)

    def fill(self, tribe: Tribe, corpus: Corpus, rows: Sequence[int]) -> list[UUID]:
        """Adds lessons past the pipeline and returns their ids, in the order of `rows`."""
        return load_lessons(
            self._owner,
            tribe_id=tribe.tribe_id,
            agent_id=tribe.curator.agent_id,
            space_id=self.space_id,
            corpus=corpus,
            rows=rows,
        )

    def build_index(self, tribe: Tribe) -> None:
        """Builds the tribe's own index as the operator does."""
        if not self.operator.build_index(tribe.name):
            raise RuntimeError(f"{tribe.name} is too small for an index of its own")

    def settle_statistics(self) -> None:
        """Does what autovacuum would have done after so many inserts."""
        self._owner.execute("VACUUM (ANALYZE)")

    def fsync(self, *, on: bool) -> None:
        """Switches durability while the server runs; returns once it holds."""
        self._owner.execute(f"ALTER SYSTEM SET fsync = {'on' if on else 'off'}".encode())
        self._owner.execute("CHECKPOINT")
        self._owner.execute("SELECT pg_reload_conf()")
        while self._one("SELECT current_setting('fsync')") != ("on" if on else "off"):
            self._owner.execute("SELECT pg_sleep(0.01)")

    @property
    def space_id(self) -> int:
        return int(str(self._one("SELECT max(space_id) FROM tributary.space")))

    def vectors_of(self, tribe: Tribe) -> int:
        """Returns how many believed vectors a tribe has."""
        row = self._owner.execute(
            "SELECT sum(vectors) FROM tributary.tribe_space WHERE tribe_id = %s", (tribe.tribe_id,)
        ).fetchone()
        return int(row[0]) if row else 0

    def replans_of(self, tribe: Tribe) -> tuple[int, int]:
        """Returns how many learns a tribe has decided, and how often they had to be planned again."""
        row = self._owner.execute(
            "SELECT count(*), coalesce(sum(replans), 0) FROM tributary.decision WHERE tribe_id = %s", (tribe.tribe_id,)
        ).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    @property
    def server_version(self) -> str:
        return str(self._one("SELECT current_setting('server_version')"))

    @property
    def pgvector_version(self) -> str:
        return str(self._one("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))

    def _one(self, query: str) -> object:
        row = self._owner.execute(query.encode()).fetchone()
        return None if row is None else row[0]

    def _settings(self, connections: int, url: str | None = None) -> Settings:
        unbounded = {"writes_per_minute": 10_000_000, "writes_per_day": 10_000_000}
        return Settings.model_validate({"TRIBUTARY_DATABASE_URL": url or self.url, "connections": connections, **unbounded})


@contextmanager
def open_ground(
    database: str = DATABASE, *, embedder: Embedder | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Ground]:
    """Gives a ground and removes every trace of it afterwards.

    Its server is durable, as a laptop's memory is: fsync is on. `settings` are PostgreSQL's own, besides a laptop's.
    """
    with tempfile.TemporaryDirectory(prefix="tributary-bench-", ignore_cleanup_errors=True) as home:  # noqa: SIM117
        with EmbeddedPostgres.join(Path(home), settings=settings) as server:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
            ground = Ground(server.url(database), embedder=embedder)
            try:
                yield ground
            finally:
                ground.close()


def _principal(tribe_id: UUID, agent: Agent) -> Principal:
    return Principal(tribe_id=tribe_id, agent_id=agent.agent_id, name=agent.name, role=agent.role)
