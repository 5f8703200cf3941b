"""MCP clients for tests: the official Python one, and a bare one that sees each line of the wire."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import tributary

RUN = "from tributary.edges.cli import main; main()"
PATIENCE_S = 90.0
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}

Result = TypeVar("Result")


@contextmanager
def surroundings(**settings: str) -> Iterator[dict[str, str]]:
    """Gives an environment with a home of its own and the settings, and nothing of whoever runs the tests."""
    # not under pytest's own folder: root's embedded PostgreSQL runs as a user of its own, who could not pass there
    with tempfile.TemporaryDirectory(prefix="tributary-mcp-", ignore_cleanup_errors=True) as folder:
        yield {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "LC_ALL": "C",
            "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
            "TRIBUTARY_HOME": str(Path(folder, "home")),
            **settings,
        }


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-c", RUN, *arguments]


def over_stdio(environment: Mapping[str, str], *arguments: str, mode: str = "auto") -> Client:
    """Returns the official client, which starts `tributary mcp` and speaks to it."""
    program, *rest = command("mcp", *arguments)
    server = StdioServerParameters(command=program, args=rest, env=dict(environment))
    return Client(stdio_client(server), mode=mode)


def run(talk: Callable[[], Awaitable[Result]]) -> Result:
    async def bounded() -> Result:
        with anyio.fail_after(PATIENCE_S):
            return await talk()

    return anyio.run(bounded)


class Bare:
    """`tributary mcp`, with each line that it writes kept in `lines`."""

    def __init__(self, environment: Mapping[str, str], started: Sequence[str] | None = None) -> None:
        self.process = subprocess.Popen(
            started or command("mcp"),
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self._watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        self._watchdog.start()
        self.lines: list[str] = []

    def send(self, method: str, params: object = None, request: int | None = None) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        message |= {} if params is None else {"params": params}
        message |= {} if request is None else {"id": request}
        self.raw(json.dumps(message))

    def raw(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.lines.append(self.process.stdout.readline())
        message: dict[str, Any] = json.loads(self.lines[-1])
        return message

    def begin(self) -> dict[str, Any]:
        """Shakes hands and returns the answer to `initialize`."""
        self.send("initialize", HELLO, request=0)
        answer = self.receive()
        self.send("notifications/initialized")
        return answer

    def call(self, tool: str, arguments: Mapping[str, object], request: int) -> dict[str, Any]:
        self.send("tools/call", {"name": tool, "arguments": arguments}, request)
        answer = self.receive()
        assert answer["id"] == request
        result: dict[str, Any] = answer["result"]
        return result

    def end(self, number: signal.Signals | None = None) -> tuple[int, str, str]:
        """Closes its input, or sends a signal; returns its exit code and the rest of what it wrote."""
        if number is not None:
            self.process.send_signal(number)
            return self.rest()
        said, remarked = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said, remarked

    def rest(self) -> tuple[int, str, str]:
        """Waits until it ends by itself, its input staying open; returns its exit code and the rest of what it wrote."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        said, remarked = self.process.stdout.read(), self.process.stderr.read()
        self.process.wait(PATIENCE_S)
        return self.process.returncode, said, remarked

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self.process.wait()
