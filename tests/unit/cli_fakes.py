"""Stand-ins for what the command line reaches out to, and a real HTTP server that speaks the contract."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import httpx

from tests.unit.client_fakes import TOKEN, URL, Tribe
from tributary.client import Memory
from tributary.core.agent import Agent, NewToken, Principal, Role, Token
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import NotFound, Unauthenticated, WrongStanding
from tributary.core.garden import GardenReport
from tributary.core.space import SpaceBuilt, SpaceDropped, SpaceState, SpaceSwitched, TribeSpace
from tributary.core.status import Observation, Status
from tributary.edges.cli.doors import Doors
from tributary.edges.dashboard.port import FrontDoor
from tributary.edges.gateway import Started
from tributary.service import Settings
from tributary.service.demo_incident import INCIDENT
from tributary.service.memory import ModelsUsed
from tributary.service.model_listing import ModelsSeen
from tributary.service.operator import NewTribe, SteppedBack
from tributary.service.operator import Tribe as StoredTribe
from tributary.service.seeding import Seeded
from tributary.transfer.evidence import Carried
from tributary.transfer.tribes import Progress, Summary

if TYPE_CHECKING:
    from tributary.edges.cli.faces import OperatorFace, ServedMemory


def _learned(outcome: Outcome, dispute: UUID | None) -> Learned:
    return Learned(
        outcome=outcome,
        lesson=None,
        replaced=(),
        dispute_id=dispute,
        challenges=(),
        reason="by the test",
        decision_id=UUID(int=3),
        tick=1,
        replayed=False,
    )


MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class FakeOperator:
    """Tribes and agents in a dictionary. Tokens are numbered."""

    kept: dict[str, dict[str, Agent]] = field(default_factory=dict)
    tokens: dict[str, Principal] = field(default_factory=dict)
    made: dict[UUID, Token] = field(default_factory=dict)
    kept_spaces: list[TribeSpace] = field(default_factory=list)
    left_by_build: int = 0
    exported: list[bytes] = field(default_factory=lambda: [b'{"format":"tributary-export"}\n', b'{"end":{}}\n'])
    migrated: int = 0
    failure: Exception | None = None
    when_migrating: Callable[[], None] = lambda: None

    def migrate(self) -> None:
        self.when_migrating()
        if self.failure is not None:
            raise self.failure
        self.migrated += 1

    def export_evidence(self, tribe: str, folder: Path) -> Carried:
        self._agents(tribe)
        return Carried(files=2, size=30, there=1, lost=() if folder.name == "whole" else ("5f" * 32,))

    restore_evidence = export_evidence

    def after_restore(self, tribe: str, *, ticks: int) -> SteppedBack:
        self._agents(tribe)
        return SteppedBack(tribe=tribe, before=418, tick=419 + ticks, in_doubt=2, sessions=1)

    def rotate_signing_key(self) -> str:
        return "k2"

    def migration_sql(self) -> str:
        return "CREATE TABLE tribe ();\n-- ünïcode\n"

    def create_tribe(self, name: str, *, curator: str = "curator", days: int = 365) -> NewTribe:
        if name in self.kept:
            raise WrongStanding(f"there is a tribe named '{name}' already")
        self.kept[name] = {}
        return NewTribe(tribe=self._tribe(name), token=self.create_agent(name, curator, Role.CURATOR))

    def tribes(self) -> Sequence[StoredTribe]:
        return [self._tribe(name) for name in self.kept]

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = 365) -> NewToken:
        agent_id = UUID(int=len(self.tokens) + 1)
        self._agents(tribe)[name] = Agent(agent_id=agent_id, name=name, role=role, created_at=MADE, revoked_at=None)
        return self.rotate(tribe, name, days=days, keep_others=True)

    def rotate(self, tribe: str, name: str, *, days: int = 365, keep_others: bool = False) -> NewToken:
        agent = self._agents(tribe)[name]
        for old in () if keep_others else self.tokens_of(tribe, name):
            self.revoke_token(tribe, old.token_id)
        number = len(self.tokens) + 1
        made = Token(
            token_id=UUID(int=number),
            agent_id=agent.agent_id,
            created_at=MADE,
            expires_at=MADE + timedelta(days=days),
            revoked_at=None,
            last_used_at=None,
        )
        self.made[made.token_id] = made
        secret = f"trb_secret-{number}"
        self.tokens[secret] = Principal(tribe_id=UUID(int=1), agent_id=agent.agent_id, name=name, role=agent.role)
        return NewToken(agent=agent, token_id=made.token_id, secret=secret, expires_at=made.expires_at)

    def tokens_of(self, tribe: str, name: str) -> Sequence[Token]:
        agent_id = self._agents(tribe)[name].agent_id
        return [one for one in self.made.values() if one.agent_id == agent_id]

    def revoke_token(self, tribe: str, token_id: UUID) -> Token:
        if not self._agents(tribe) or token_id not in self.made:
            raise NotFound(f"the tribe '{tribe}' has no such token")
        self.made[token_id] = replace(self.made[token_id], revoked_at=MADE)
        return self.made[token_id]

    def has_curator(self, tribe: str) -> bool:
        usable = {one.agent_id for one in self.made.values() if one.revoked_at is None}
        return any(
            one.role is Role.CURATOR and one.revoked_at is None and one.agent_id in usable for one in self._agents(tribe).values()
        )

    def agents(self, tribe: str) -> Sequence[Agent]:
        return list(self._agents(tribe).values())

    def revoke_agent(self, tribe: str, name: str) -> Agent:
        agents = self._agents(tribe)
        agents[name] = replace(agents[name], revoked_at=MADE)
        return agents[name]

    def export(self, tribe: str, write: Callable[[bytes], object], *, progress: Progress) -> Summary:
        self._agents(tribe)
        for line in self.exported:
            write(line)
            progress("lesson", 1)
        return self._summary(tribe)

    def restore(self, lines: Iterable[bytes], *, name: str | None = None, progress: Progress) -> Summary:
        self.exported = list(lines)
        progress("lesson", 1)
        return self._summary(name or "payments")

    def _summary(self, tribe: str) -> Summary:
        return Summary(tribe_id=UUID(int=7), name=tribe, tick=418, rows={"tribe": 1, "lesson": 300}, sha256="5f" * 32)

    def bind(self, tribe: str, name: str, principal: str) -> Agent:
        agents = self._agents(tribe)
        agents[name] = replace(agents[name], principals=(*agents[name].principals, principal))
        return agents[name]

    def unbind(self, tribe: str, name: str, principal: str) -> Agent:
        agents = self._agents(tribe)
        agents[name] = replace(agents[name], principals=tuple(one for one in agents[name].principals if one != principal))
        return agents[name]

    def build_index(self, tribe: str) -> bool:
        return bool(self._agents(tribe)) and False

    def spaces(self, tribe: str) -> Sequence[TribeSpace]:
        self._agents(tribe)
        return self.kept_spaces

    def create_space(self, tribe: str) -> TribeSpace:
        self._agents(tribe)
        self.kept_spaces.append(space_made(len(self.kept_spaces) + 1, SpaceState.BUILDING))
        return self.kept_spaces[-1]

    def build_space(self, tribe: str, name: str | None = None, *, progress: Callable[[int, int], None]) -> SpaceBuilt:
        progress(2, 1)
        found = self._space(tribe, name)
        return SpaceBuilt(space=found.name, made=2, left=self.left_by_build, indexed=found.indexed)

    def switch_space(self, tribe: str, name: str | None = None, *, exact: bool = False) -> SpaceSwitched:
        return SpaceSwitched(before="old", after=f"{self._space(tribe, name).name}{' exactly' if exact else ''}", tick=8)

    def drop_space(self, tribe: str, name: str) -> SpaceDropped:
        return SpaceDropped(space=self._space(tribe, name).name, vectors=3, forgotten=name == "1")

    def _space(self, tribe: str, name: str | None) -> TribeSpace:
        self._agents(tribe)
        found = [one for one in self.kept_spaces if name in (None, one.name, str(one.number))]
        if not found:
            raise NotFound("this tribe has no such space")
        return found[-1]

    def _agents(self, tribe: str) -> dict[str, Agent]:
        if tribe not in self.kept:
            raise NotFound(f"there is no tribe named '{tribe}'")
        return self.kept[tribe]

    def _tribe(self, name: str) -> StoredTribe:
        return StoredTribe(tribe_id=UUID(int=1), name=name, clock=7, created_at=MADE)


def space_made(number: int, state: SpaceState) -> TribeSpace:
    return TribeSpace(
        number=number, name=f"model\x1b[2J-{number}", dimension=384, state=state, vectors=2, missing=1, indexed=number == 2
    )


class FakeMemory:
    """What `serve` itself asks of the memory."""

    def __init__(self, operator: FakeOperator) -> None:
        self._operator = operator
        self.warmed = False

    def cell_for(self, _token: str, /) -> str | None:
        return None

    def authenticate(self, token: str) -> Principal:
        try:
            return self._operator.tokens[token]
        except KeyError:
            raise Unauthenticated from None

    def warm(self) -> None:
        self.warmed = True

    def models_used(self) -> ModelsUsed:
        return ModelsUsed(judge="local/7", strong_judge=None, screen="s\x1b/2", embedder="minilm", distiller="openai:gpt-5")


@dataclass
class FakeGardener:
    """Notes what it was asked for and gives the report that the test set."""

    report: GardenReport = field(default_factory=lambda: GardenReport(dry_run=False, tribes=()))
    asked: list[tuple[str | None, bool]] = field(default_factory=list)

    def run_named(self, name: str, *, dry_run: bool = False, budget_s: float | None = None) -> GardenReport:
        self.asked.append((name, dry_run))
        return self.report

    def run_all(self, *, dry_run: bool = False, budget_s: float | None = None) -> GardenReport:
        self.asked.append((None, dry_run))
        return self.report


@dataclass
class FakeProber:
    """Shows what the test set."""

    seen: Sequence[Observation] = ()
    known: dict[str, Status] = field(default_factory=dict)

    def databases(self) -> Sequence[Observation]:
        return self.seen

    def tribes(self, name: str | None) -> dict[str, Status]:
        return {each: one for each, one in self.known.items() if name in (None, each)}


@dataclass
class Surroundings:
    """Everything that a command can reach, all of it fake but the files under `environment['TRIBUTARY_HOME']`."""

    environment: Mapping[str, str]
    tribe: Tribe = field(default_factory=Tribe)
    operator: FakeOperator = field(default_factory=FakeOperator)
    operators: dict[str | None, FakeOperator | Exception] = field(default_factory=dict)
    """Those of further cells, or why they cannot be opened."""
    gardener: FakeGardener = field(default_factory=FakeGardener)
    prober: FakeProber = field(default_factory=FakeProber)
    models: ModelsSeen = field(default_factory=lambda: ModelsSeen(roles=(), providers=()))
    seeded: bool = False
    settings: dict[str, object] = field(default_factory=lambda: {"database_url": None, "cors_origins": ()})
    while_serving: Callable[[], None] = lambda: None

    def doors(self) -> Doors:
        return Doors(
            environment=self.environment,
            open_client=self._open_client,
            load_settings=lambda _: Settings.model_validate(self.settings),
            open_operator=self._open_operator,
            open_memory=self._open_memory,
            open_gardener=lambda _: nullcontext(self.gardener),
            open_prober=lambda _: nullcontext(self.prober),
            list_models=lambda _: self.models,
            seed_demo=self._seed_demo,
            serve=self._serve,
        )

    def _seed_demo(self, _: Settings, tribe: str) -> Sequence[Seeded]:
        self.operator.agents(tribe)
        if self.seeded:
            raise WrongStanding(f"the tribe '{tribe}' was taught the demo already; a tribe learns it once")
        self.seeded = True
        outcomes = [Outcome.LEARNED, Outcome.DISPUTED]
        disputes = [None, UUID(int=9)]
        return [
            Seeded(told=told, learned=_learned(outcome, dispute))
            for told, outcome, dispute in zip(INCIDENT, outcomes, disputes, strict=False)
        ]

    def _open_operator(self, settings: Settings) -> AbstractContextManager[OperatorFace]:
        found = self.operators.get(settings.cell, self.operator)
        if isinstance(found, Exception):
            raise found
        return nullcontext(found)

    def _open_client(self) -> Memory:
        transport = httpx.MockTransport(self.tribe)
        return Memory(URL, TOKEN, transport=transport, environment={}, sleep=lambda _: None)

    def _open_memory(self, _: Settings) -> AbstractContextManager[ServedMemory]:
        return nullcontext(cast("ServedMemory", FakeMemory(self.operator)))

    def _serve(
        self,
        memory: FrontDoor,
        *,
        settings: Settings,
        host: str,
        port: int,
        started: Callable[[Started], None],
    ) -> None:
        assert cast("FakeMemory", memory).warmed
        port = port or 45678
        shown = f"[{host}]" if ":" in host else host
        started(Started(url=f"http://{shown}:{port}", host=host, port=port, cors_origins=settings.cors_origins))
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
