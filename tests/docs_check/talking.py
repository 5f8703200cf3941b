"""A program that is told one thing after another, and whose output says when it is done: a shell, or a Python."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

Show = Callable[[str], None]


class Talking:
    """One program in a session of its own, so that all that it starts ends with it."""

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path, show: Show) -> None:
        self.mark = f"ended-{uuid.uuid4().hex}"
        self._show = show
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
        self._said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(
                line.decode("utf-8", "replace").rstrip("\r\n").rpartition("\r")[2]
            )  # of a bar that was drawn anew, the last
        self._said.put(None)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, line: str, *, within_s: float) -> str | None:
        """Has it do something, shows what it says meanwhile, and returns why that failed, or None. Too slow, it is ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return "the shell had ended"
        until = time.monotonic() + within_s
        while True:
            try:
                said = self._said.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self.end()
                return f"not done within {within_s:.0f} s"
            if said is None:
                return "it ended the shell that it ran in"
            if said.startswith(self.mark):
                ended = said.removeprefix(self.mark).strip()
                return None if ended == "0" else "a command ended with an error"
            self._show(said)

    def end(self) -> None:
        """Ends it and all that it started in its session."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        end_group(self._process.pid)
        self._process.wait()
        self._reading.join(timeout=10)
        if (
            self._process.stdout is not None and not self._reading.is_alive()
        ):  # else a stranger to the session still holds it open
            self._process.stdout.close()


def end_group(group: int, *, patience_s: float = 10.0) -> None:
    """Asks a group of processes to end, waits, and kills what is left of it."""
    for asked, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 2.0)):
        try:
            os.killpg(group, asked)
        except ProcessLookupError:
            return
        until = time.monotonic() + wait_s
        while time.monotonic() < until and _is_there(group):
            time.sleep(0.05)


def _is_there(group: int) -> bool:
    """Tells whether a process of a group still runs; one that has ended and was not waited for yet does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False
