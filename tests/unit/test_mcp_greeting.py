"""The answer to `initialize` before the SDK is loaded: the SDK's own answer, for what is plainly understood, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

import tributary
from tributary.edges.mcp.greeting import Opening, greet, greeting
from tributary.edges.mcp.retries import Seen
from tributary.edges.mcp.server import make_server
from tributary.edges.mcp.session import Opened, Session
from tributary.edges.mcp.wire import MOST_BYTES, Wire
from tributary.edges.mcp.words import HANDSHAKES


def hello(**changed: object) -> dict[str, Any]:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {**params, **changed}}


def nowhere(_: float) -> Opened:
    raise AssertionError("initialize opens no memory")


def test_a_line_that_is_too_long_is_told_of_and_passed_over() -> None:
    incoming, client = os.pipe()
    told, outgoing = os.pipe()
    line = json.dumps(hello()).encode()

    def send() -> None:
        for part in (b"x" * (MOST_BYTES + 100_000), b"\n", line, b"\n", b"y" * (MOST_BYTES + 100_000)):
            left = memoryview(part)
            while left:
                left = left[os.write(client, left) :]
        os.close(client)

    sender = threading.Thread(target=send)
    sender.start()
    wire = Wire(incoming, outgoing)
    assert greet(wire) == Opening(line=line, answered=0)
    assert wire.read_message() is None
    sender.join()
    os.close(outgoing)
    with os.fdopen(told) as answers:
        refused, greeted = map(json.loads, answers)
    os.close(incoming)
    assert (refused["id"], refused["error"]["code"], greeted["id"]) == (None, -32600, 0)


def test_versions_that_begin_with_a_handshake_are_those_of_the_sdk() -> None:
    assert HANDSHAKES == HANDSHAKE_PROTOCOL_VERSIONS


def test_the_answer_is_the_sdks_own() -> None:
    async def ask() -> dict[str, Any]:
        async with Client(make_server(Session(nowhere, retries=Seen())), mode="legacy") as client:
            result = client.session.initialize_result
            assert result is not None
            return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    answered = greeting(json.dumps(hello(protocolVersion=HANDSHAKES[-1])).encode())
    assert answered is not None
    request, line = answered
    assert request == 0
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 0, "result": anyio.run(ask)}


@pytest.mark.parametrize("version", HANDSHAKES)
def test_each_version_is_answered_with_itself(version: str) -> None:
    answered = greeting(json.dumps(hello(protocolVersion=version)).encode())
    assert answered is not None
    assert json.loads(answered[1])["result"]["protocolVersion"] == version


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no JSON",
        b"[]",
        b"[" * 100_000,
        json.dumps(hello(protocolVersion="1999-01-01")).encode(),
        json.dumps(hello(clientInfo={"name": "tests"})).encode(),
        json.dumps(hello(capabilities=None)).encode(),
        json.dumps({**hello(), "id": None}).encode(),
        json.dumps({**hello(), "id": True}).encode(),
        json.dumps({**hello(), "method": "tools/list"}).encode(),
        json.dumps({**hello(), "jsonrpc": "1.0"}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}).encode(),
    ],
)
def test_whatever_else_comes_is_left_to_the_sdk(line: bytes) -> None:
    assert greeting(line) is None


def test_greeting_loads_neither_the_sdk_nor_a_model_nor_a_database() -> None:
    code = """
import sys
import tributary.edges.cli.app, tributary.edges.cli.mcp, tributary.edges.mcp.greeting, tributary.edges.mcp.wire
heavy = {"mcp", "mcp_types", "pydantic", "httpx", "psycopg", "numpy", "onnxruntime", "asyncio", "uvicorn"}
print(sorted(heavy & set(sys.modules)))
"""
    environment = {"PYTHONPATH": str(Path(tributary.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
