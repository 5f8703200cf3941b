"""A server of the demo's own: `tributary serve` on a free port, with its database in a folder that vanishes afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from evals.gauntlet.processes import ProcessFailed, clean_environment, run_json, running, tail, uninterrupted
from tributary.client import Memory

POSTGRES_STOP_S = 100.0
"""Longer than its keeper gives PostgreSQL to stop."""
SOCKET_REMOVAL_S = 2.0

_OF_THE_DISTILLER = (
    "TRIBUTARY_DISTILLER",
    "TRIBUTARY_OPENAI_",
    "TRIBUTARY_AWS_REGION",
    "TRIBUTARY_BEDROCK_URL",
    "TRIBUTARY_CLAUDE_COMMAND",
    "TRIBUTARY_MAX_OUTPUT_TOKENS",
    "TRIBUTARY_MODEL_",
    "TRIBUTARY_PRICES_FILE",
)
_COMMAND = (sys.executable, "-c", "from tributary.edges.cli import main; main()")


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A place at a tribe's memory: where it is, and the token of one agent."""

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Founded:
    """A tribe that was just made: its name, and the seat of its first curator."""

    tribe: str
    curator: Seat

    def seat(self, agent: str) -> Seat:
        """Makes a writer of the tribe, as its curator, and returns its seat."""
        with Memory(self.curator.url, self.curator.token) as memory:
            made = memory.curation.create_agent(agent, "writer")
        return Seat(url=self.curator.url, token=made.token)


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server. `environment` is that of its operator; agents get what a seat says as well.

    `model` are the settings of the language model that agents may be driven by: no other process gets to see them.
    """

    url: str
    environment: Mapping[str, str] = field(repr=False)
    model: Mapping[str, str] = field(default_factory=dict, repr=False)

    def found(self, name: str) -> Founded:
        """Makes a tribe, as its operator, and returns its name with the seat of its curator."""
        made = self._operate("tribe", "create", name)
        return Founded(tribe=_text(made, "tribe"), curator=Seat(url=self.url, token=_text(made, "token")))

    def tribe_of_writers(self, name: str, *writers: str) -> list[Seat]:
        """Makes a tribe with these writers and returns their seats."""
        tribe = self.found(name)
        return [tribe.seat(writer) for writer in writers]

    def _operate(self, *arguments: str) -> dict[str, object]:
        return run_json((*_COMMAND, *arguments, "--json"), self.environment, say=lambda _line: None)


def distiller_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns those settings of `environment` that decide which model distils, where it is, and what it may take."""
    return {name: value for name, value in environment.items() if name.startswith(_OF_THE_DISTILLER)}


@contextmanager
def own_server(
    *, say: Callable[[str], None], settings: Mapping[str, str] | None = None, model: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Yields a server that started empty, and takes it away again with all that it kept.

    `settings` are for the server alone: no agent gets to see a key among them. `model` is for agents that a model drives.

    Raises ProcessFailed when it does not start; a failure of what uses it is raised again with the end of the server's log.
    """
    with _vanishing_folder() as folder:
        home, log = folder / "home", folder / "server.log"
        environment = clean_environment(os.environ, home)
        say("starting a server with a database of its own")
        with (
            waiting_for_the_database(home),
            log.open("w", encoding="utf-8") as errors,
            running(
                (*_COMMAND, "--debug", "serve", "--port", "0", "--json"),
                {**environment, **(settings or {})},
                stdout=subprocess.PIPE,
                stderr=errors.fileno(),
            ) as process,
        ):
            url = _address(process, log)
            say(f"it listens at {url}")
            try:
                yield Server(url=url, environment=environment, model=model or {})
            except ProcessFailed as error:
                raise ProcessFailed(f"{error}\nThe server's log ends so:\n{_tail_of(log)}") from error
            say("stopping the server")


@contextmanager
def _vanishing_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tributary-gauntlet-"))
    try:
        yield folder
    finally:
        with uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def waiting_for_the_database(home: Path) -> Iterator[None]:
    """Returns from the block once the database below `home` has stopped, so that its folder is not removed under it.

    The server stops it on its way out; one that was killed leaves that to the database's keeper, a moment later.
    """
    try:
        yield
    finally:
        with uninterrupted():
            _wait_while(lambda: _postgres_lives(home), at_most_s=POSTGRES_STOP_S)
            _wait_while(lambda: _has_socket_elsewhere(home), at_most_s=SOCKET_REMOVAL_S)


def _wait_while(condition: Callable[[], bool], *, at_most_s: float) -> None:
    until = time.monotonic() + at_most_s
    while condition() and time.monotonic() < until:
        time.sleep(0.02)


def _postgres_lives(home: Path) -> bool:
    """Tells whether the process that PostgreSQL's pid file names is there; one that crashed leaves the file behind."""
    for path in home.glob("postgres-*/postmaster.pid"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if psutil.pid_exists(int(path.read_text().split()[0])):
                return True
    return False


def _has_socket_elsewhere(home: Path) -> bool:
    """Tells whether the keeper has yet to remove a folder for the socket, made where the path of `home` is too long for one."""
    return any(path.is_symlink() for path in home.glob("postgres-*.run/socket"))


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """Waits for the server's greeting, one line of JSON, and returns the address in it."""
    greeting = process.stdout.readline() if process.stdout else ""
    try:
        document = json.loads(greeting)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ProcessFailed(f"`tributary serve` did not start:\n{_tail_of(log)}")
    return _text(document, "url")


def _tail_of(log: Path) -> str:
    return tail(log.read_text(encoding="utf-8", errors="replace").splitlines())


def _text(document: dict[str, object], name: str) -> str:
    value = document.get(name)
    if not isinstance(value, str):
        raise ProcessFailed(f"`tributary` printed JSON without a text '{name}'; it has {sorted(document)}")
    return value
