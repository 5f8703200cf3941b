"""Two cells to test with: two servers, tribes of the same names on either, and what their tables hold of whom."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import httpx
import psutil
import psycopg
from psycopg import sql

from tests.charging import ChargingEmbedder, ChargingJudge, ChargingScreen
from tests.conftest import CHOSEN, database_at
from tests.contract.deployed import Deployed
from tests.contract.samples import bearer, event_of
from tests.doubles import all_unrelated
from tributary.core.agent import Role
from tributary.edges.lambda_http.http_event import to_authorizer_event
from tributary.edges.lambda_http.routing import find
from tributary.models.embedders import MiniLmEmbedder
from tributary.service import Settings, open_operator
from tributary.service.wiring import Adapters
from tributary.store.embedded import EmbeddedPostgres

MAJOR = int(CHOSEN) if CHOSEN.isdigit() else 18
DATABASE = "cell"
TRIBES = ("payments", "search")
Reply = tuple[int, Any]
Cell = str | None
"""The own one has no name."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """One cell's server. `url` is a superuser's."""

    cell: Cell
    home: Path
    url: str

    def rows(self, query: str | sql.Composed, *parameters: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(query.encode() if isinstance(query, str) else query, parameters).fetchall()

    def kill(self) -> None:
        """Ends the server as a crash does; `start` has it again."""
        postmaster = int(next(self.home.glob("postgres-*/postmaster.pid")).read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGKILL)
        until = time.monotonic() + 30
        while psutil.pid_exists(postmaster):
            assert time.monotonic() < until, "the server outlived SIGKILL"
            time.sleep(0.01)

    def start(self) -> EmbeddedPostgres:
        return EmbeddedPostgres.join(self.home, major=MAJOR, fast=True)


@dataclass(frozen=True, kw_only=True)
class Agent:
    """An agent of one tribe, with the token that it was given."""

    cell: Cell
    tribe: str
    role: Role
    token: str


@dataclass(frozen=True, kw_only=True)
class TwoCells:
    """`settings` are those of a process that serves both; `environment` has the same for a process of its own."""

    places: Mapping[Cell, Place]
    settings: Settings
    environment: Mapping[str, str]
    adapters: Adapters
    agents: tuple[Agent, ...]

    def agent(self, cell: Cell, role: Role = Role.CURATOR, tribe: str = TRIBES[0]) -> Agent:
        return next(one for one in self.agents if (one.cell, one.role, one.tribe) == (cell, role, tribe))

    def tribe_id(self, cell: Cell, tribe: str = TRIBES[0]) -> UUID:
        ((found,),) = self.places[cell].rows("SELECT tribe_id FROM tributary.tribe WHERE name = %s", tribe)
        return UUID(str(found))


@contextmanager
def two_cells() -> Iterator[TwoCells]:
    """Starts both servers, makes tribes of the same names on either, and agents of each role in each."""
    with _server(None) as own, _server("eu") as eu:
        environment = {"TRIBUTARY_DATABASE_URL": own.url, "TRIBUTARY_CELLS": f"eu={eu.url}"}
        fast = {"writes_per_minute": 1_000_000, "connections": 8}
        settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": own.url, "cells": environment["TRIBUTARY_CELLS"], **fast})
        adapters = Adapters(
            embedder=ChargingEmbedder(MiniLmEmbedder()),
            screen=ChargingScreen(),
            judge=ChargingJudge("cells/1", all_unrelated, cost="0.5"),
        )
        agents = tuple(agent for place in (own, eu) for agent in _tribes(place, settings, adapters))
        yield TwoCells(places={None: own, "eu": eu}, settings=settings, environment=environment, adapters=adapters, agents=agents)


@contextmanager
def _server(cell: Cell) -> Iterator[Place]:
    with (
        tempfile.TemporaryDirectory(prefix="tributary-cell-", ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres.join(Path(folder), major=MAJOR, fast=True) as server,
    ):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        yield Place(cell=cell, home=Path(folder), url=database_at(server.url(), DATABASE))


def _tribes(place: Place, settings: Settings, adapters: Adapters) -> Iterator[Agent]:
    with open_operator(settings.in_cell(place.cell), adapters=adapters) as operator:
        operator.migrate()
        for tribe in TRIBES:
            made = operator.create_tribe(tribe)
            yield Agent(cell=place.cell, tribe=tribe, role=Role.CURATOR, token=made.token.secret)
            for role in (Role.READER, Role.WRITER):
                token = operator.create_agent(tribe, role.value, role).secret
                yield Agent(cell=place.cell, tribe=tribe, role=role, token=token)


def mixed_up(places: Mapping[Cell, Place]) -> list[tuple[Cell, str, str]]:
    """Returns what lies in the wrong cell, or in none's tribe: the cell, the table, and the tribe that is not of it."""
    found: list[tuple[Cell, str, str]] = []
    for cell, place in places.items():
        tables = place.rows(
            "SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'tributary' AND column_name = 'tribe_id' AND table_type = 'BASE TABLE' ORDER BY 1"
        )
        assert len(tables) > 20
        for (table,) in tables:
            query = sql.SQL(
                "SELECT DISTINCT tribe_id FROM tributary.{} WHERE tribe_id NOT IN (SELECT tribe_id FROM tributary.tribe)"
            ).format(sql.Identifier(table))
            found += [(cell, table, str(tribe_id)) for (tribe_id,) in place.rows(query)]
    return found


class Way(Protocol):
    """How a request is sent: over HTTP, or as events to functions."""

    def __call__(self, agent: Agent, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply: ...


@dataclass(frozen=True, kw_only=True)
class OverHttp:
    client: httpx.Client

    def __call__(self, agent: Agent, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        response = self.client.request(method, path, json=body, headers=bearer(agent.token))
        return response.status_code, response.json()


@dataclass(frozen=True, kw_only=True)
class ByFunctions:
    """Each function in a process of its own, asked as API Gateway asks it: the authorizer first, then the route's."""

    functions: Mapping[str, Deployed]
    locks: Mapping[str, threading.Lock] = field(default_factory=dict)

    def __call__(self, agent: Agent, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        match = find(method, path.partition("?")[0])
        assert match is not None
        content = b"" if body is None else json.dumps(body).encode()
        bare, _, query = path.partition("?")
        headers = {"authorization": f"Bearer {agent.token}"}
        event = event_of(method, bare, body=content, headers=headers, query=query)
        allowed = self._ask("authorizer", to_authorizer_event(event))
        event["requestContext"]["authorizer"] = {"lambda": allowed["context"]}
        response = self._ask(match.route.function, event)
        return response["statusCode"], json.loads(response["body"])

    def _ask(self, function: str, event: Mapping[str, Any]) -> Any:
        with self.locks[function]:
            return self.functions[function](event)
