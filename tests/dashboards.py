"""The dashboard over a real memory, without a browser: visitors who are signed in, and what a page holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from uuid import uuid4

import httpx2
from starlette.testclient import TestClient

from tests.tribes import Tribal
from tests.unit.test_dashboard_panel import WRITER
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
