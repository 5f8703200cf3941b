"""schemathesis over the whole description, against the real gateway and database; and over a server that lies.

In CI the requests are the same each time; FUZZ_EXAMPLES (`make fuzz`) has as many random ones an operation sent, for each role.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.samples import bearer
from tests.fuzz.hooks import refused_beyond_the_schema
from tests.fuzz.sent import sent
from tests.fuzz.served import Served, served
from tributary.contract.routes import ROUTES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0")) or None
ONE_IN = 1 if EXAMPLES else 5
ROLES = ("reader", "writer", None)


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Served]:
    with served(database_url, tmp_path / "evidence") as opened:
        yield opened


def test_every_operation_keeps_what_the_description_promises(server: Served, tmp_path: Path) -> None:
    """Each boundary of each value, sound and unsound; with FUZZ_EXAMPLES random requests too. As a curator, who may all."""
    phases = ["coverage", "fuzzing"] if EXAMPLES else ["coverage"]
    found = sent(server.url, tmp_path, token=server.tokens["curator"], phases=phases, examples=EXAMPLES, one_in=ONE_IN)
    assert found.failures == (), found.told
    assert found.operations == len(ROUTES)
    assert found.cases > 10 * len(ROUTES)
    still_in(server)


def test_operations_that_go_on_from_one_another_keep_it_too(server: Served, tmp_path: Path) -> None:
    """Chains along the description's links: learn, then timeline, retire, erase; begin, then complete; a dispute, its end."""
    found = sent(server.url, tmp_path, token=server.tokens["curator"], phases=["stateful"], examples=EXAMPLES)
    assert found.failures == (), found.told
    assert found.operations > 15, found.told
    still_in(server)


@pytest.mark.parametrize("role", ROLES if EXAMPLES else ROLES[:1])
def test_every_operation_keeps_it_for_each_role(server: Served, tmp_path: Path, role: str | None) -> None:
    """In CI of three operations: one that a reader may do, one that it may not, and one that is open."""
    token = server.tokens[role] if role else None
    without = ["sound_request_is_taken"] if role is None else []
    only = () if EXAMPLES else ("timeline", "set_policy", "health")
    found = sent(server.url, tmp_path, token=token, phases=["coverage"], examples=EXAMPLES, only=only, without=without)
    assert found.failures == (), found.told


def still_in(server: Served) -> None:
    """A run that had revoked its own token would have been refused from there on, and found nothing."""
    assert httpx.get(f"{server.url}/v1/me", headers=bearer(server.tokens["curator"]), trust_env=False).json()["role"] == "curator"


def test_only_rules_that_no_schema_can_say_excuse_a_refusal() -> None:
    def refusal(*rules: str) -> bytes:
        return json.dumps({"errors": [{"field": "text", "rule": rule} for rule in rules]}).encode()

    beyond, within = "must be the version of a policy that was read", "must not be empty or white space"
    assert refused_beyond_the_schema(400, refusal(beyond))
    assert not refused_beyond_the_schema(409, refusal(beyond))
    assert not refused_beyond_the_schema(400, refusal(within))
    assert not refused_beyond_the_schema(400, refusal(beyond, within))
    assert not refused_beyond_the_schema(400, refusal())


# -- negative controls: a server with one fault each


THINGS = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things": {
            "post": {
                "operationId": "make",
                "security": [{"token": []}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}},
                },
                "responses": {
                    "200": {
                        "description": "Made",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                        "links": {"show": {"operationId": "show", "parameters": {"id": "$response.body#/id"}}},
                    },
                    "400": {"description": "Unsound", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
                    "401": {"description": "Unknown", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
                },
            }
        },
        "/things/{id}": {
            "get": {
                "operationId": "show",
                "security": [{"token": []}],
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9]{1,9}$"}}
                ],
                "responses": {
                    "200": {
                        "description": "Shown",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                    },
                    "400": {"description": "Unsound", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
                    "401": {"description": "Unknown", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
                    "404": {"description": "None", "content": {"application/problem+json": {"schema": {"type": "object"}}}},
                },
            }
        },
    },
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Ask": {
                "type": "object",
                "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 1000}},
                "required": ["size"],
                "additionalProperties": False,
            },
            "Thing": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "size": {"type": "integer"}},
                "required": ["id", "size"],
            },
        },
    },
}


@contextmanager
def things(fault: str | None) -> Iterator[str]:  # noqa: C901  (one server, one branch a fault)
    """Serves the description above, with one fault."""
    made: dict[str, int] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, document: dict[str, Any], kind: str | None = None) -> None:
            kind = kind or ("application/json" if status == 200 else "application/problem+json")
            content = json.dumps(document | ({} if status == 200 else {"status": status, "code": "x", "detail": ""})).encode()
            self.send_response(status)
            for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), ("Allow", "GET, POST")):
                if name != "Allow" or status == 405:
                    self.send_header(name, value if name != "Allow" else ("POST" if self.path == "/things" else "GET"))
            self.end_headers()
            self.wfile.write(content)

        def known(self) -> bool:
            return fault == "open_to_all" or self.headers["Authorization"] == "Bearer t"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            try:
                asked = json.loads(body)
            except ValueError:
                asked = None
            size = asked.get("size") if isinstance(asked, dict) and set(asked) == {"size"} else None
            sound = isinstance(size, int | float) and not isinstance(size, bool) and size == int(size) and 0 <= size <= 1000
            if self.path != "/things":
                self.answer(405, {})
            elif not self.known():
                self.answer(401, {})
            elif not sound and not (fault == "takes_anything" and isinstance(asked, dict)):
                self.answer(400, {})
            elif fault == "falls_over" and size == 1000:
                self.answer(500, {})
            elif fault == "undocumented" and size == 0:
                self.answer(418, {})
            elif fault == "refuses_what_is_sound" and size == 1000:
                self.answer(400, {})
            else:
                number = str(len(made))
                made[number] = int(size) if sound and size is not None else 0
                left_out = fault == "leaves_out"
                kind = "text/plain" if fault == "other_kind" else None
                self.answer(200, {"id": number} if left_out else {"id": number, "size": made[number]}, kind)

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            number = self.path.removeprefix("/things/")
            if self.path == "/things":
                self.answer(405, {})
            elif not self.known():
                self.answer(401, {})
            elif not (number.isascii() and number.isdigit() and len(number) < 10):
                self.answer(400, {})
            elif number not in made:
                self.answer(404, {})
            elif fault == "falls_over_later":
                self.answer(500, {})
            else:
                self.answer(200, {"id": number, "size": made[number]})

        def other(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.answer(405, {})

        do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_QUERY = other  # noqa: N815

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


FAULTS = {
    "falls_over": "Server error",
    "falls_over_later": "Server error",
    "leaves_out": "Response violates schema",
    "other_kind": "Undocumented Content-Type",
    "undocumented": "Undocumented status code",
    "refuses_what_is_sound": "Schema-valid request rejected",
    "takes_anything": "Schema-violating request accepted",
    "open_to_all": "API accepts requests without authentication",
}


@pytest.mark.parametrize("fault", [None, *FAULTS] if EXAMPLES else ["leaves_out"])
def test_the_run_finds_a_fault_that_was_planted_and_none_where_there_is_none(tmp_path: Path, fault: str | None) -> None:
    """The control of the runs above: the same run over another server, which breaks one promise of its description."""
    description = tmp_path / "things.json"
    description.write_text(json.dumps(THINGS), encoding="utf-8")
    with things(fault) as url:
        found = sent(
            url, tmp_path, token="t", description=description, phases=["stateful" if fault == "falls_over_later" else "coverage"]
        )
    titles = {failure.partition(":")[0] for failure in found.failures}
    assert (FAULTS[fault] in titles) if fault else (titles == set()), found.told
