"""`tributary serve` as a process of its own, what it logs, and what it takes of the machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

ROOT = Path(__file__).parents[2]
APPLICATION = "tributary-under-load"
RUN = "from tributary.edges.cli import main; main()"
LEAKING = f"""
import threading, time
def hoard():
    kept = []
    while True:
        time.sleep(0.1)
        kept.append(bytearray(10_000_000))
threading.Thread(target=hoard, daemon=True).start()
{RUN}
"""
"""The same with a planted leak: the negative control."""
START_S, STOP_S = 120.0, 60.0
_SAYS_TROUBLE = re.compile(r"Traceback|Exception|\bERROR\b|\bCRITICAL\b")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What the server's process took at a moment, in seconds since the load began."""

    at_s: float
    memory_bytes: int
    threads: int
    files: int
    connections: int


class Served:
    """A server that has said that it serves."""

    def __init__(self, process: subprocess.Popen[str], url: str, folder: Path) -> None:
        self.process = process
        self.url = url
        self._log, self._remarks = folder / "server.jsonl", folder / "remarks.txt"

    @property
    def is_up(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        """Ends it as a person does, and returns its exit status."""
        if self.is_up:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def log(self) -> Iterator[dict[str, Any]]:
        with self._log.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    def remarks(self) -> Sequence[str]:
        """Returns what it said on standard error that tells of trouble: the web server and threads speak there."""
        lines = self._remarks.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if _SAYS_TROUBLE.search(line) and not line.startswith("{")]


@contextmanager
def served(
    database_url: str, *, tribe: str, pool: int, environment: Mapping[str, str], folder: Path, leaking: bool
) -> Iterator[Served]:
    """Serves a migrated database while the block runs."""
    mine = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT / "shared"),
        "TRIBUTARY_HOME": str(folder / "home"),
        "DATABASE_URL": f"{database_url}{'&' if '?' in database_url else '?'}application_name={APPLICATION}",
        "TRIBUTARY_CONNECTIONS": str(pool),
        "TRIBUTARY_GARDEN_EVERY_S": "15",
        "TRIBUTARY_LOG_FORMAT": "json",
        "TRIBUTARY_LOG_FILE": str(folder / "server.jsonl"),
        **environment,
    }
    command = [sys.executable, "-c", LEAKING if leaking else RUN, "serve", "--port", "0", "--tribe", tribe, "--json"]
    with (folder / "remarks.txt").open("w") as remarks, (folder / "said.json").open("w") as said:
        process = subprocess.Popen(command, env=mine, stdout=said, stderr=remarks, text=True)
        try:
            yield Served(process, _address(process, folder), folder)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[str], folder: Path) -> str:
    until = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < until:
        try:
            return str(json.loads((folder / "said.json").read_text())["url"])
        except (ValueError, KeyError):
            time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {(folder / 'remarks.txt').read_text()[-2000:]}")


class Sampler:
    """Looks at a process, and at its connections on the database's side, from a thread of its own, for as long as the load lasts:
    what comes after is no part of it, and callers who leave would hide what the server keeps.
    """

    def __init__(self, pid: int, database_url: str, *, every_s: float, for_s: float) -> None:
        self.samples: list[Sample] = []
        self._process = psutil.Process(pid)
        self._database_url = database_url
        self._every_s = every_s
        self._for_s = for_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler")

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        try:
            with psycopg.connect(self._database_url, autocommit=True, application_name="sampler") as connection:
                while not self._over.wait(self._every_s) and (at_s := time.monotonic() - began) < self._for_s:
                    self.samples.append(self._look(connection, at_s))
        except (psutil.Error, psycopg.Error):
            return  # the server or the database is gone: the judgement tells

    def _look(self, connection: psycopg.Connection, at_s: float) -> Sample:
        row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (APPLICATION,)).fetchone()
        with self._process.oneshot():
            return Sample(
                at_s=at_s,
                memory_bytes=self._process.memory_info().rss,
                threads=self._process.num_threads(),
                files=self._process.num_fds(),
                connections=int(row[0]) if row else 0,
            )
