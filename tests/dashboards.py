"""The dashboard over a real memory, without a browser: visitors who are signed in, and what a page holds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from psycopg.conninfo import conninfo_to_dict
from starlette.testclient import TestClient

from tests.conftest import database_at
from tests.tribes import Tribal, open_tribal
from tests.unit.test_dashboard_panel import WRITER
from tests.wire import Relay, Spoken
from tributary.core.agent import Role
from tributary.core.status import Observation
from tributary.edges.dashboard.app import make_app
from tributary.edges.dashboard.port import FrontDoor, Setup


class Prober:
    """Sees what it is told to, and counts how often it looks."""

    def __init__(self, seen: Sequence[Observation] = WRITER) -> None:
        self.seen = seen
        self.looks = 0
        self.failure: Exception | None = None
        self.before: Callable[[], object] = lambda: None

    def databases(self) -> Sequence[Observation]:
        self.looks += 1
        self.before()
        if self.failure is not None:
            raise self.failure
        return self.seen


class Markup(HTMLParser):
    """The tags of a page with their attributes, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def value(self, name: str) -> str:
        """Returns the value of the first field of that name."""
        return next(str(one["value"]) for _, one in self.tags if one.get("name") == name and "value" in one)


class Visitor:
    """A browser without scripts. `client` sends what a test wants sent, just as it is."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.client.get(path, headers=headers, follow_redirects=False)

    def markup(self, path: str) -> Markup:
        response = self.get(path)
        assert response.status_code == 200, response.text
        return Markup(response.text)

    def send(self, path: str, page: str, **fields: str) -> httpx2.Response:
        """Sends a form of `page`, with what that page's forms carry."""
        shown = self.markup(page)
        return self.client.post(
            path, data={"csrf": shown.value("csrf"), "key": shown.value("key"), **fields}, follow_redirects=False
        )


@contextmanager
def visiting(
    tribal: Tribal,
    role: Role | None = Role.CURATOR,
    *,
    setup: Setup | None = None,
    prober: Prober | None = None,
    door: FrontDoor | None = None,
    source: str = "192.0.2.1",
) -> Iterator[Visitor]:
    """Gives a visitor who is signed in with that role, or, for None, not at all. `door` may stand before the tribe's memory."""
    seen = prober or Prober()
    app = make_app(lambda: seen, lambda: door or tribal.memory, setup or Setup(secure=False), now=tribal.clock)
    with TestClient(app, raise_server_exceptions=False, client=(source, 50_000)) as client:
        if role is not None:
            token = tribal.curator_token if role is Role.CURATOR else tribal.token(f"{role}-{uuid4().hex[:8]}", role)
            assert client.post("/sign-in", data={"token": token}, follow_redirects=False).status_code == 303
        yield Visitor(client)


@contextmanager
def overheard(
    database_url: str, role: Role = Role.CURATOR, *, setup: Setup | None = None, **adapters: Any
) -> Iterator[tuple[Tribal, Visitor, Spoken]]:
    """Gives a new tribe and a visitor over one connection to the database, and what is spoken there.

    `adapters` are those of `open_tribal`. Skips where the server listens on no Unix socket, which is what is listened to.
    """
    parts = conninfo_to_dict(database_url)
    if not str(parts["host"]).startswith("/"):
        pytest.skip("the relay speaks to a Unix socket, and this server has none")
    target = f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"
    with tempfile.TemporaryDirectory(prefix="relay") as folder, Relay(Path(folder), target) as relay:
        url = database_at(f"postgresql://postgres@/x?host={folder}&port=5432", str(parts["dbname"]))
        with open_tribal(url, connections=1, **adapters) as tribal, visiting(tribal, role, setup=setup) as visitor:
            yield tribal, visitor, relay.spoken
