"""Stand-ins for what the command line reaches out to, and a real HTTP server that speaks the contract."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import httpx

from tests.unit.client_fakes import TOKEN, URL, Tribe
from tributary.client import Memory
from tributary.core.agent import Agent, NewToken, Principal, Role
from tributary.core.errors import NotFound, Unauthenticated, WrongStanding
from tributary.edges.cli.doors import Doors
from tributary.edges.gateway import Started
from tributary.edges.lambda_http.port import MemoryFace
from tributary.service.operator import NewTribe
from tributary.service.operator import Tribe as StoredTribe

if TYPE_CHECKING:
    from tributary.edges.cli.faces import ServedMemory
    from tributary.service import Settings

MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class FakeOperator:
    """Tribes and agents in a dictionary. Tokens are numbered."""

    kept: dict[str, dict[str, Agent]] = field(default_factory=dict)
    tokens: dict[str, Principal] = field(default_factory=dict)
    migrated: int = 0
    failure: Exception | None = None
    when_migrating: Callable[[], None] = lambda: None

    def migrate(self) -> None:
        self.when_migrating()
        if self.failure is not None:
            raise self.failure
        self.migrated += 1

    def migration_sql(self) -> str:
        return "CREATE TABLE tribe ();\n-- ünïcode\n"

    def create_tribe(self, name: str, *, curator: str = "curator") -> NewTribe:
        if name in self.kept:
            raise WrongStanding(f"there is a tribe named '{name}' already")
        self.kept[name] = {}
        return NewTribe(tribe=self._tribe(name), token=self.create_agent(name, curator, Role.CURATOR))

    def tribes(self) -> Sequence[StoredTribe]:
        return [self._tribe(name) for name in self.kept]

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = 365) -> NewToken:
        agents = self._agents(tribe)
        number = len(self.tokens) + 1
        agents[name] = Agent(agent_id=UUID(int=number), name=name, role=role, created_at=MADE, revoked_at=None)
        secret = f"trb_secret-{number}"
        self.tokens[secret] = Principal(tribe_id=UUID(int=1), agent_id=UUID(int=number), name=name, role=role)
        return NewToken(agent=agents[name], secret=secret, expires_at=MADE + timedelta(days=days))

    def agents(self, tribe: str) -> Sequence[Agent]:
        return list(self._agents(tribe).values())

    def revoke_agent(self, tribe: str, name: str) -> Agent:
        old = self._agents(tribe)[name]
        return Agent(agent_id=old.agent_id, name=name, role=old.role, created_at=old.created_at, revoked_at=MADE)

    def build_index(self, tribe: str) -> bool:
        return bool(self._agents(tribe)) and False

    def _agents(self, tribe: str) -> dict[str, Agent]:
        if tribe not in self.kept:
            raise NotFound(f"there is no tribe named '{tribe}'")
        return self.kept[tribe]

    def _tribe(self, name: str) -> StoredTribe:
        return StoredTribe(tribe_id=UUID(int=1), name=name, clock=7, created_at=MADE)


class FakeMemory:
    """What `serve` itself asks of the memory."""

    def __init__(self, operator: FakeOperator) -> None:
        self._operator = operator
        self.warmed = False

    def authenticate(self, token: str) -> Principal:
        try:
            return self._operator.tokens[token]
        except KeyError:
            raise Unauthenticated from None

    def warm(self) -> None:
        self.warmed = True


@dataclass
class Surroundings:
    """Everything that a command can reach, all of it fake but the files under `environment['TRIBUTARY_HOME']`."""

    environment: Mapping[str, str]
    tribe: Tribe = field(default_factory=Tribe)
    operator: FakeOperator = field(default_factory=FakeOperator)
    settings: dict[str, object] = field(default_factory=lambda: {"database_url": None, "cors_origins": ()})
    while_serving: Callable[[], None] = lambda: None

    def doors(self) -> Doors:
        return Doors(
            environment=self.environment,
            open_client=self._open_client,
            load_settings=lambda _: cast("Settings", SimpleNamespace(**self.settings)),
            open_operator=lambda _: nullcontext(self.operator),
            open_memory=self._open_memory,
            serve=self._serve,
        )

    def _open_client(self) -> Memory:
        transport = httpx.MockTransport(self.tribe)
        return Memory(URL, TOKEN, transport=transport, environment={}, sleep=lambda _: None)

    def _open_memory(self, _: Settings) -> AbstractContextManager[ServedMemory]:
        return nullcontext(cast("ServedMemory", FakeMemory(self.operator)))

    def _serve(
        self,
        memory: MemoryFace,
        *,
        host: str,
        port: int,
        cors_origins: Sequence[str],
        started: Callable[[Started], None],
    ) -> None:
        assert cast("FakeMemory", memory).warmed
        port = port or 45678
        shown = f"[{host}]" if ":" in host else host
        started(Started(url=f"http://{shown}:{port}", host=host, port=port, cors_origins=tuple(cors_origins)))
        self.while_serving()


@contextmanager
def http_server(tribe: Tribe) -> Iterator[str]:
    """Serves `tribe` on a free port while the block runs, and gives the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("content-length", 0))
            url = f"http://{self.headers['host']}{self.path}"
            answer = tribe(httpx.Request(self.command, url, headers=dict(self.headers), content=self.rfile.read(size)))
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = _answer  # noqa: N815  (names that the base class looks for)

        def log_message(self, *_: Any) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
