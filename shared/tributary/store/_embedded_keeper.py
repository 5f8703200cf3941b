"""The keeper: a small process that stops the embedded PostgreSQL once its last member is gone, however it went.

Members run it by its path as `python -I -S _embedded_keeper.py <home> <major>`, so this file needs the standard library
alone and imports nothing of ours; what the members share with it (folder layout, locks, stopping) lives here too.

Who is alive is told by flock(2) alone. The kernel drops a lock with the last open copy of its file, so neither a crash nor a
reused pid leaves a stale one. Locks are taken in this order:

    members     shared by every member; exclusive by whoever stops the server, so that nobody joins meanwhile
    starting    exclusive by the member that starts the keeper, makes the data or starts the server
    server      exclusive, and inherited by initdb and every server process: while it is held, the data may be touched
    keeper      exclusive by the keeper
"""

from __future__ import annotations

import fcntl
import io
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.01
PATIENCE_S = 60.0
"""How long a fast shutdown may take before the server is told to quit at once, which costs a recovery at the next start."""
QUIT_S = 30.0
"""How long it may then take to quit."""
KEEPER_START_S = 10.0

PORT = 5432
"""Only names the socket's file: nothing listens on TCP."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where things lie below the home of one major version's server."""

    home: Path
    major: int

    @property
    def data(self) -> Path:
        return self.home / f"postgres-{self.major}"

    @property
    def unfinished(self) -> Path:
        """Where initdb works, until its result is renamed to `data`."""
        return self.home / f"postgres-{self.major}.new"

    @property
    def log(self) -> Path:
        return self.home / f"postgres-{self.major}.log"

    @property
    def run(self) -> Path:
        """Locks, access rules and the socket; nothing that outlives its use."""
        return self.home / f"postgres-{self.major}.run"

    @property
    def members(self) -> Path:
        return self.run / "members.lock"

    @property
    def starting(self) -> Path:
        return self.run / "starting.lock"

    @property
    def server(self) -> Path:
        return self.run / "server.lock"

    @property
    def keeper(self) -> Path:
        return self.run / "keeper.lock"

    @property
    def socket_link(self) -> Path:
        """The socket's folder, or a link to one with a shorter path."""
        return self.run / "socket"

    @property
    def socket_folder(self) -> Path:
        return self.socket_link.readlink() if self.socket_link.is_symlink() else self.socket_link

    @property
    def socket(self) -> Path:
        return self.socket_folder / f".s.PGSQL.{PORT}"

    @property
    def postmaster_file(self) -> Path:
        return self.data / "postmaster.pid"


# Locks of a few lines' life. A fork in another thread would copy them into a child that knows nothing of them and may live long.
_transient: set[io.FileIO] = set()


def _close_transient() -> None:
    while _transient:
        _transient.pop().close()


os.register_at_fork(after_in_child=_close_transient)


def open_lock(path: Path, *, make: bool = True) -> io.FileIO:
    """Opens a lock file without taking the lock. Closing it drops the lock. Raises FileNotFoundError unless told to make it."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if make else 0)
    return io.FileIO(os.open(path, flags, 0o600), "r+")


def take(lock: io.FileIO, operation: int) -> bool:
    """Takes a lock (LOCK_SH or LOCK_EX) if that is possible at once."""
    try:
        fcntl.flock(lock, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def transient_lock(path: Path, *, make: bool = True) -> Iterator[io.FileIO]:
    """Opens a lock file that no forked child keeps."""
    lock = open_lock(path, make=make)
    _transient.add(lock)
    try:
        yield lock
    finally:
        _transient.discard(lock)
        lock.close()


def is_held(path: Path) -> bool:
    """Tells whether someone holds the lock exclusively. Asks with a shared lock, so that askers don't see one another."""
    # Makes no file: a home may be removed while its server is being stopped, and asking must not bring back a part of it.
    with suppress(FileNotFoundError), transient_lock(path, make=False) as lock:
        return not take(lock, fcntl.LOCK_SH)
    return False


def is_at(lock: io.FileIO, path: Path) -> bool:
    """Tells whether the open lock file is still the one at `path`; it is not when the home was removed or made anew."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], *, until: float) -> bool:
    """Returns True as soon as the condition holds, False when it doesn't by `until` (time.monotonic)."""
    while not condition():
        if time.monotonic() >= until:
            return False
        time.sleep(POLL_S)
    return True


def postmaster_pid(layout: Layout) -> int | None:
    """Returns the pid of the server that listens on our socket, None when there is none.

    The pid file alone proves nothing: its process may be dead and the pid another's. A postmaster writes the file before
    it listens, so once the socket answers the file is the listener's; Linux says itself who listens, which also keeps a
    pid of another container from being taken for one of ours (it shows as 0).
    """
    try:
        pid = int(layout.postmaster_file.read_text().split(maxsplit=1)[0])
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(os.fspath(layout.socket))
            if sys.platform == "linux":
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                if struct.unpack("3i", credentials)[0] != pid:
                    return None
    except (OSError, ValueError, IndexError):
        return None
    return pid if pid > 1 else None


def stop_server(layout: Layout, *, patience_s: float = PATIENCE_S, quit_s: float = QUIT_S) -> bool:
    """Stops the server and tells whether it is gone: with a fast shutdown, past `patience_s` with an immediate one.

    The caller holds `members` exclusively. What holds the server's lock without listening (initdb, a server that is just
    starting, backends of a killed one) is waited for.
    """
    begun = time.monotonic()
    sent: signal.Signals | None = None
    while is_held(layout.server):
        waited_s = time.monotonic() - begun
        wanted = signal.SIGINT if waited_s < patience_s else signal.SIGQUIT
        if sent is not wanted and (pid := postmaster_pid(layout)) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, wanted)
            sent = wanted
        if waited_s > patience_s + quit_s:
            return False
        time.sleep(POLL_S)
    _remove_short_folder(layout)
    return True


def _remove_short_folder(layout: Layout) -> None:
    with suppress(OSError):
        if layout.socket_link.is_symlink():
            layout.socket_folder.rmdir()
            layout.socket_link.unlink()


def keep(layout: Layout) -> bool:
    """Leaves a keeper behind, which lives until the last member is gone and the server is stopped; tells whether it did."""
    keeper = open_lock(layout.keeper)
    # Not blocking: askers hold the lock for an instant, another keeper for as long as it lives.
    if not wait_for(lambda: take(keeper, fcntl.LOCK_EX), until=time.monotonic() + KEEPER_START_S):
        return False
    if os.fork():
        return True  # the child has the lock too, and the member that started us need not reap it
    members = open_lock(layout.members)
    fcntl.flock(members, fcntl.LOCK_EX)
    if is_at(members, layout.members):
        stop_server(layout)
    keeper.close()  # before `members`: whoever joins next must not take us for a keeper that will stay
    members.close()
    return True


if __name__ == "__main__":
    sys.exit(0 if keep(Layout(home=Path(sys.argv[1]), major=int(sys.argv[2]))) else 1)
