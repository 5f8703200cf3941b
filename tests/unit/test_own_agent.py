"""An agent of one's own: its token is kept, and another is asked for where the file of tokens is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.unit.client_fakes import AT, receipt
from tributary.edges.cli.own_agent import AGENTS_FILE, own_agent

TRIBE = "0199c0de-5a1e-7b2c-8d3f-4a5b6c7d8e9f"
ALICE = {"id": "agt_" + "6" * 32, "name": "alice", "role": "writer", "created_at": AT, "revoked_at": None, "last_used_at": None}
MADE = {"agent": ALICE, "id": "tok_" + "7" * 32, "token": "trb_made", "expires_at": AT}


def server(request: httpx.Request) -> httpx.Response:
    """Answers as one that knows a curator and alice."""
    keeper = request.headers["authorization"] == "Bearer trb_keeper"
    if request.url.path == "/v1/me":
        name, role = ("curator", "curator") if keeper else ("alice", "writer")
        return httpx.Response(200, json={"tribe": TRIBE, "agent": "agt_" + "1" * 32, "name": name, "role": role})
    assert keeper
    if request.method == "GET":
        return httpx.Response(200, json={"agents": [ALICE], "next": None, "receipt": receipt(1)})
    assert request.url.path == f"/v1/agents/{ALICE['id']}/tokens"
    return httpx.Response(201, json=MADE)


@pytest.mark.parametrize(
    ("content", "token"),
    [
        (json.dumps({TRIBE: {"alice": "trb_kept"}}).encode(), "trb_kept"),
        *((damaged, "trb_made") for damaged in (b"", b"{", b"[]", b'{"x": []}', b"\xff\xfe", b"[" * 100_000)),
    ],
    ids=["sound", "empty", "half", "list", "list-within", "bytes", "deep"],
)
def test_a_kept_token_is_used_and_a_damaged_file_is_written_anew(tmp_path: Path, content: bytes, token: str) -> None:
    (tmp_path / AGENTS_FILE).write_bytes(content)
    transport = httpx.MockTransport(server)
    found = own_agent("http://memory", "trb_keeper", name="alice", role="writer", folder=tmp_path, transport=transport)
    assert (found.me.name, found.token) == ("alice", token)
    assert json.loads((tmp_path / AGENTS_FILE).read_text()) == {TRIBE: {"alice": token}}
