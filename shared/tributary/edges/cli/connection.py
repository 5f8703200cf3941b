"""The connection file: how commands on this computer find the local server, kept true while servers come and go."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from tributary.contract.home import (
    CONNECTION_FILE,
    SERVING_FILE,
    Connection,
    home,
    read_connection,
    serving_at,
    write_connection,
)

_SETUP_LOCK = "setup.lock"
_PAUSE_S = 0.5


def keep_token(environment: Mapping[str, str], token: str) -> Path:
    """Makes `token` the one of the connection file, the address stays. The token before it is set aside, not lost."""
    folder = made_home(environment)
    url = address(folder)
    set_aside(folder, unless=token)
    return write_connection(folder, Connection(url=url, token=token))


def address(folder: Path) -> str:
    """Returns where the server of this home is to be looked for: as the connection file says, or the server itself."""
    from tributary.client import DEFAULT_URL

    before = read_connection(folder)
    return before.url if before else serving_at(folder) or DEFAULT_URL


def made_home(environment: Mapping[str, str]) -> Path:
    """Returns the home folder, made for its owner alone where it is missing."""
    folder = home(environment)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def set_aside(folder: Path, *, unless: str) -> Path | None:
    """Renames a connection file that holds another token than `unless`: a token is shown once and may be needed again."""
    before = read_connection(folder)
    if before is None or before.token == unless:
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return (folder / CONNECTION_FILE).rename(folder / f"connection-{stamp}.json")


@contextmanager
def setting_up(folder: Path) -> Iterator[None]:
    """Lets one process at a time look whether this is the first start, and act on it."""
    with _open_lock(folder / _SETUP_LOCK) as lock:
        _lock(lock, wait=True)
        yield


class Lease:
    """The right to be the server that the connection file names.

    Of several servers of one home the first has it. When that one ends, however it ends, the system frees the right, and one
    that waits takes it and writes its own address; so the file does not go on naming a dead server beside a live one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = _open_lock(folder / SERVING_FILE)
        self._over = threading.Event()
        self._waiting: threading.Thread | None = None
        self.held = _lock(self._lock, wait=False)
        """Whether this process has the right."""

    def serves_at(self, url: str) -> None:
        """Says where we serve, if the right is ours: for a client whose token the connection file does not keep."""
        if self.held:
            self._lock.truncate(0)
            self._lock.seek(0)
            self._lock.write(url.encode())

    def follow(self, connection: Callable[[], Connection]) -> None:
        """Writes what `connection` returns into the file: now if the right is ours, else once it becomes so."""
        if self.held:
            write_connection(self._folder, connection())
        else:
            self._waiting = threading.Thread(target=self._wait, args=(connection,), name="tributary-lease", daemon=True)
            self._waiting.start()

    def close(self) -> None:
        """Gives the right back, or stops waiting for it."""
        self._over.set()
        if self._waiting is not None:
            self._waiting.join()
        self._lock.close()

    def _wait(self, connection: Callable[[], Connection]) -> None:
        # Asked again and again: a thread that sleeps in flock could not be ended.
        while not self._over.wait(_PAUSE_S):
            if _lock(self._lock, wait=False):
                self.held = True
                with suppress(OSError):  # a full disk must not end in a traceback beside the server's own lines
                    write_connection(self._folder, connection())
                return


def _open_lock(path: Path) -> io.FileIO:
    return io.FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")


def _lock(lock: io.FileIO, *, wait: bool) -> bool:
    """Takes the exclusive lock; returns False when another process has it and `wait` is not asked for."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows: two servers of one home are then told apart by the last one to start
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
