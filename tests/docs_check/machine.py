"""The surroundings of somebody new: a repository to clone, an empty home, hardly a variable; and nothing left afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs_check.blocks import ROOT

PORT = 8377
"""Of `tributary serve`, which the pages name."""
REACHING_THE_INDEX = ("PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Beginnings of variables without which some networks lead to no package index: they are passed on, too."""


class Busy(Exception):
    """Something listens on the port that the pages name."""


class Machine:
    """A folder that stands for a machine: `home`, and `tributary.git` with what the checkout holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.repository = folder / "tributary.git"
        self.clone = self.home / "tributary"
        self.changes = self._repository()

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a first login, and those by which the package index is reached."""
        python = Path(sys.base_prefix) / "bin"
        passed = {name: value for name, value in os.environ.items() if name.upper().startswith(REACHING_THE_INDEX)}
        path = [str(python), "/usr/local/bin", "/usr/bin", "/bin"]
        node = shutil.which("npx")
        path += [str(Path(node).parent)] if node else []
        return {**passed, "PATH": ":".join(path), "LANG": "C.UTF-8", "HOME": str(self.home)}

    def hide(self, line: str) -> str:
        """Returns a line of output without the paths of this machine."""
        return line.replace(str(self.home), "~").replace(str(self.folder), "<machine>")

    def _repository(self) -> int:
        """Makes the repository of HEAD and what is not committed yet; returns how many files that changed."""
        changed = _git("status", "--porcelain", at=ROOT).splitlines()
        _git("clone", "--quiet", "--bare", "--no-hardlinks", str(ROOT), str(self.repository), at=self.folder)
        if changed:
            in_copy = (f"--git-dir={self.repository}", f"--work-tree={ROOT}")
            _git(*in_copy, "add", "--all", at=ROOT)
            who = ("-c", "user.name=docs-check", "-c", "user.email=docs-check@example.org")
            _git(*in_copy, *who, "commit", "--quiet", "--message", "What is not committed yet", at=ROOT)
        return len(changed)


def _git(*words: str, at: Path) -> str:
    return subprocess.run(("git", *words), cwd=at, check=True, capture_output=True, text=True).stdout


@contextmanager
def machine(port: int = PORT) -> Iterator[Machine]:
    """Gives the machine, and afterwards ends what was started in it and removes it; raises Busy when the port is taken."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise Busy(f"something listens on port {port}, where the pages' server will be: end it first")
    folder = Path(tempfile.mkdtemp(prefix="tributary-docs-"))
    folder.chmod(0o755)  # the database's own account must pass through it when all of this runs as root
    try:
        yield Machine(folder)
    finally:
        _end_all_in(folder)
        shutil.rmtree(folder)


def _end_all_in(folder: Path) -> None:
    """Ends every process that was started on a machine: its variables or its command name the folder, as nothing else does."""
    for asked, wait_s in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0)):
        until = time.monotonic() + wait_s
        told = set[int]()
        while (found := _processes_of(folder)) and time.monotonic() < until:
            for process in found - told:
                try:
                    os.kill(process, asked)
                except ProcessLookupError:
                    continue
            told |= found
            time.sleep(0.1)


def _processes_of(folder: Path) -> set[int]:
    found = set[int]()
    named = os.fsencode(folder)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if named in (entry / "environ").read_bytes() or named in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found - {os.getpid()}
