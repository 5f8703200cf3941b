"""A tribe to test with: a memory over one database, agents of each role, and shorthands for lessons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tests.doubles import SetClock, WordScreen
from tributary.core.agent import Principal, Role
from tributary.core.decision import Learned
from tributary.core.lesson import Draft, How, Source
from tributary.core.ports import Embedder, Judge, PendingNotice, Screen
from tributary.core.requests import Question, Recalled
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.wiring import Adapters

SEEN = Source(how=How.OBSERVED, ref="run:1")


@dataclass(frozen=True, kw_only=True)
class Tribal:
    """`url` is a superuser's, to look behind the product's back."""

    url: str
    memory: Memory
    tribe_id: UUID
    name: str
    curator: Principal
    curator_token: str
    clock: SetClock
    settings: Settings
    adapters: Adapters

    def agent(self, name: str, role: Role = Role.WRITER) -> Principal:
        """Makes an agent and returns what its token authenticates as."""
        return self.memory.authenticate(self.token(name, role))

    def token(self, name: str, role: Role = Role.WRITER) -> str:
        with open_operator(self.settings, adapters=self.adapters) as operator:
            return operator.create_agent(self.name, name, role).secret

    def learn(self, agent: Principal, text: str, situation: str = "operating the service", **fields: object) -> Learned:
        draft = Draft(text=text, situation=situation, source=SEEN)
        return self.memory.learn(agent, replace(draft, **fields))  # type: ignore[arg-type]  # the test's own keywords

    def recall(self, query: str, **fields: object) -> Recalled:
        return self.memory.recall(self.curator, replace(Question(query=query), **fields))  # type: ignore[arg-type]  # as above

    def rows(self, query: str, *parameters: object) -> list[dict[str, object]]:
        """Reads the database as a superuser; `$tribe`-less on purpose: tests say what they look at."""
        with psycopg.connect(self.url, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(query.encode(), parameters)
            return cursor.fetchall() if cursor.description is not None else []

    def status_counts(self) -> dict[str, int]:
        """Returns how many lessons stand how, counted from the lessons themselves."""
        found = self.rows("SELECT status, count(*) AS n FROM tributary.lesson WHERE tribe_id = %s GROUP BY 1", self.tribe_id)
        return {str(row["status"]): int(str(row["n"])) for row in found}


@contextmanager
def open_tribal(
    url: str,
    *,
    name: str = "tribe",
    embedder: Embedder | None = None,
    next_embedder: Embedder | None = None,
    judge: Judge | None = None,
    screen: Screen | None = None,
    notice: PendingNotice | None = None,
    curator_token: str | None = None,
    clock: SetClock | None = None,
    **settings: object,
) -> Iterator[Tribal]:
    """Makes a tribe in the migrated database at `url` and opens a memory on it; with a curator's token, on the tribe of that name
    that is there already."""
    clock = clock or SetClock()
    adapters = Adapters(
        embedder=embedder or HashedEmbedder(),
        next_embedder=next_embedder,
        judge=judge,
        screen=screen or WordScreen(),
        notice=notice,
        now=clock,
    )
    fast = {"writes_per_minute": 1_000_000, "writes_per_day": 1_000_000}
    chosen = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, "connections": 40, **fast, **settings})
    if curator_token is None:
        with open_operator(chosen, adapters=adapters) as operator:
            curator_token = operator.create_tribe(name).token.secret
    with open_memory(chosen, adapters=adapters) as memory:
        curator = memory.authenticate(curator_token)
        yield Tribal(
            url=url,
            memory=memory,
            tribe_id=curator.tribe_id,
            name=name,
            curator=curator,
            curator_token=curator_token,
            clock=clock,
            settings=chosen,
            adapters=adapters,
        )


def id_of(learned: Learned) -> UUID:
    """Returns the id of the lesson that was learned, or kept."""
    assert learned.lesson is not None
    return learned.lesson.lesson_id
