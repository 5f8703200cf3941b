"""A whole `tributary serve` logs nothing of what it was given: every operation and page is asked, with a mark in each word.

The log is at DEBUG. PostgreSQL's own log is read, too: it may quote what a statement was given.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.contract.test_access import BODIES, path_of
from tests.integration.test_cli_serve import Serving, environment, home, serve
from tests.providers.server import Asked, ProviderServer, Reply
from tributary.contract.home import read_connection
from tributary.contract.routes import ROUTES, Route
from tributary.edges.dashboard.table import PAGES

__all__ = ["environment", "home", "serve"]  # fixtures

MARK = "planted"  # in small letters: names of agents and of tags take no others
KEYS = {role: f"sk-{MARK}-{role}" for role in ("judge", "distiller", "responder")}
CONTENT = f"{MARK} in a file".encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
KEPT = {"kind", "role", "how", "jsonrpc", "method", "id", "sha256", "content_type", "lease"}
"""Fields of closed sets and forms: with a mark in them a request is refused before anything is done with it."""


@pytest.fixture
def gossip() -> Iterator[ProviderServer]:
    """A provider that answers every question by quoting it, with the key that came along."""

    def quoting(asked: Asked) -> Reply:
        return Reply(status=400, document={"error": {"message": f"{asked.headers} {asked.body}", "code": MARK}})

    with ProviderServer([("POST", ".*", quoting)]) as server:
        yield server


def marked(value: Any, name: str = "") -> Any:
    """Returns a sample of a body with the mark in each text of it that may say anything."""
    if isinstance(value, dict):
        return {key: marked(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner, name) for inner in value]
    return f"{value}-{MARK}" if isinstance(value, str) and name not in KEPT else value


def requests(client: httpx.Client, token: str) -> Iterator[tuple[Route, httpx.Response]]:
    """Asks each operation: as it should be asked, with a field that it does not have, and by a token that nobody has."""
    real: dict[str, str] = {}  # ids of what the requests before made, and the lease of its action
    for route in ROUTES:
        body = None if route.takes_bytes or route.method == "GET" else marked(BODIES.get(route.operation, {}))
        if body and "sha256" in body:
            body |= {"sha256": SHA256, "bytes": len(CONTENT)}
        if body and "lease" in body:
            body["lease"] = real["lease"]
        content = CONTENT if route.takes_bytes else None
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": MARK, "User-Agent": MARK}
        if route.method != "GET" and not route.takes_bytes:
            headers["Idempotency-Key"] = f"{MARK}-{route.operation}"
        if route.takes_bytes:
            headers["Content-Type"] = "text/plain"
        if route.operation == "mcp":
            headers["Accept"] = "application/json, text/event-stream"
        path = re.sub(r"(?<=/)[0-9a-f]{64}$", SHA256, path_of(route))
        if route.id_of in real:
            path = re.sub(r"\w+_[0-9a-f]{32}", real[route.id_of], path)
        for other in (
            {},
            {"params": {MARK: MARK}},
            {"headers": {**headers, "Authorization": f"Bearer trb_{MARK:x<43}"}},
            {"json": {MARK: MARK}} if body is not None else {"params": {"before": MARK, "after": MARK}},
        ):
            given: dict[str, Any] = {"headers": headers, "content": content, "json": body, **other}
            response = client.request(route.method, path, **given)
            if response.is_success and route.method == "POST":
                real |= {one[:3]: one for one in re.findall(r'"id": ?"((?:les|act|agt|dec)_[0-9a-f]{32})"', response.text)}
                if lease := re.search(r'"lease": ?"(\w+)"', response.text):
                    real["lease"] = lease[1]
            yield route, response


def visits(client: httpx.Client, token: str) -> Iterator[httpx.Response]:
    """Signs in in vain and then well, and opens each page with marks in what is asked of it."""
    form = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    for tried in (f"trb_{MARK:x<43}", MARK, token):
        yield client.post("/dashboard/sign-in", data={"token": tried, "next": "/"}, headers=form)
    for page in PAGES:
        path = re.sub(r"\{\w+\}", f"les_{MARK}", page.path)
        yield client.get(f"/dashboard{path}", params={"query": MARK, "subject": MARK, MARK: MARK})
    yield client.post("/dashboard/sign-out", data={"csrf": MARK}, headers=form)


def test_a_server_that_was_asked_everything_has_logged_none_of_it(
    environment: dict[str, str], home: Any, serve: Any, gossip: ProviderServer
) -> None:
    environment |= {"TRIBUTARY_LOG_LEVEL": "DEBUG", "TRIBUTARY_LOG_FORMAT": "json"}
    for role, key in KEYS.items():
        name = f"TRIBUTARY_{role.upper()}"
        environment |= {name: "openai", f"{name}_MODEL": "gpt-x", f"{name}_URL": f"{gossip.url}/v1", f"{name}_API_KEY": key}
    server: Serving = serve()
    connection = read_connection(home)
    assert connection is not None
    token = connection.token
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        answered = list(requests(client, token))
        lessons = re.findall(r"les_[0-9a-f]{32}", answered[0][1].text)
        sessions = {name: value for response in visits(client, token) for name, value in response.cookies.items()}
    code, said = server.stop()
    assert code == 0
    assert gossip.asked, "no model was asked, so none could quote anything"
    assert sessions, "nobody was signed in"
    assert {response.status_code // 100 for _, response in answered} >= {2, 4}
    logged = {line["route"] for line in map(json.loads, re.findall(r"^{.*$", said, re.MULTILINE)) if "route" in line}
    unasked = {route.operation for route in ROUTES} - logged - {f"{route.method} {route.path}" for route in ROUTES}
    postgres = "".join(path.read_text(errors="replace") for path in home.rglob("*log*") if path.is_file())
    for secret in (MARK, token, *KEYS.values(), *sessions.values()):
        assert secret not in said
        assert secret not in postgres
    assert postgres
    assert not unasked, unasked
    assert lessons[0] in said, "what may be logged is found: so would a secret be"
