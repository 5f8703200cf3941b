"""Starting the embedded server: one member does it, the others wait for it."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tributary.core.errors import BadSetting, Unavailable
from tributary.store import _embedded_keeper
from tributary.store._embedded_access import make_socket_folder, write_rules
from tributary.store._embedded_account import Account, server_account
from tributary.store._embedded_cluster import clear_stale, has_data, make_data, open_folders, run
from tributary.store._embedded_keeper import POLL_S, PORT, Layout, is_held, take, transient_lock, wait_for
from tributary.store._embedded_ping import Pong, ping

LOG_BYTES = 8 * 1024 * 1024
"""Size past which the log is put aside at the next start; one old log is kept."""
LOG_TAIL_BYTES = 3000

LAPTOP: Mapping[str, str] = {
    "max_connections": "100",
    "shared_buffers": "512MB",
    "max_wal_size": "256MB",  # bounds the disk that it takes, and the time that a recovery takes
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "cluster_name": "tributary",
}
FAST: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

_OURS = re.compile(r"listen_addresses|port|unix_socket_\w+|data_directory|hba_file|ident_file|external_pid_file")
_SETTING = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?")


@dataclass(frozen=True, kw_only=True)
class Start:
    """How to start the server, should it not run; raises BadSetting for settings that are not the caller's to choose."""

    fast: bool
    """Whether to give up durability for speed; for tests."""
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.settings:
            if not _SETTING.fullmatch(name):
                raise BadSetting(f"'{name}' cannot name a PostgreSQL setting")
            if _OURS.fullmatch(name):
                raise BadSetting(f"the embedded PostgreSQL sets '{name}' itself; leave it out")

    def words(self, layout: Layout) -> list[str]:
        """Returns the command line's settings."""
        settings = {
            **LAPTOP,
            **(FAST if self.fast else {}),
            **self.settings,
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": os.fspath(layout.socket_folder),
            "unix_socket_permissions": "0700",
            "hba_file": os.fspath(layout.run / "hba.conf"),
            "ident_file": os.fspath(layout.run / "ident.conf"),
        }
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]


def ensure_running(layout: Layout, start: Start, bin_folder: Path, *, until: float) -> str:
    """Returns the server's version once it serves, having started the keeper and the server where they were missing.

    The caller is a member, so nobody stops the server meanwhile. Raises BadSetting, Corrupt and Unavailable.
    """
    if is_held(layout.keeper) and is_held(layout.server) and (version := _ask(layout).server_version):
        return version
    account = server_account()
    with transient_lock(layout.starting) as starting:
        if not wait_for(lambda: take(starting, fcntl.LOCK_EX), until=until):
            raise Unavailable(f"another process is still starting the embedded PostgreSQL; its log is '{layout.log}'")
        _ensure_keeper(layout)
        while True:
            log_start = _launch_if_free(layout, start, bin_folder, account, until=until)
            version = _wait_until_serving(layout, until=until)
            if version is not None:
                return version
            if log_start is not None:
                said = _log_tail(layout, since=log_start)
                raise Unavailable(f"the embedded PostgreSQL did not start; '{layout.log}' says:\n{said}")


def _ensure_keeper(layout: Layout) -> None:
    """Comes before the server, so that our death leaves the server to nobody at no moment."""
    if is_held(layout.keeper):
        return
    command: list[str | Path] = [
        sys.executable or "python3",
        "-I",
        "-S",
        _embedded_keeper.__file__,
        layout.home,
        str(layout.major),
    ]
    try:
        code = run(command, timeout_s=2 * _embedded_keeper.KEEPER_START_S).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the keeper of the embedded PostgreSQL could not be started: {error}") from error
    if code != 0:
        raise Unavailable(f"the keeper of the embedded PostgreSQL could not be started: {command[0]} ended with {code}")


def _launch_if_free(layout: Layout, start: Start, bin_folder: Path, account: Account, *, until: float) -> int | None:
    """Starts a server unless some process still holds the data; returns where in the log its words begin."""
    with transient_lock(layout.server) as server:
        if not take(server, fcntl.LOCK_EX):
            return None
        open_folders(layout, bin_folder, account)
        if not has_data(layout, account):
            timeout_s = max(1.0, until - time.monotonic())
            make_data(layout, bin_folder, account, fast=start.fast, server_lock=server.fileno(), timeout_s=timeout_s)
        clear_stale(layout)
        make_socket_folder(layout, account)
        write_rules(layout, account)
        # The shell ends at once, so the server is no child of ours: nothing to reap, no zombie with its pid.
        shell = ["/bin/sh", "-c", '"$0" "$@" &']
        command: list[str | Path] = [*shell, bin_folder / "postgres", "-D", layout.data, *start.words(layout)]
        with _open_log(layout) as log:
            log_start = log.tell()
            run(command, account=account, output=log, inherit=(server.fileno(),))
        return log_start


def _wait_until_serving(layout: Layout, *, until: float) -> str | None:
    """Returns the server's version once it serves, None once no process holds the data."""
    while is_held(layout.server):
        pong = _ask(layout)
        if pong.server_version is not None:
            return pong.server_version
        if time.monotonic() >= until:
            answer = f"it answers {pong.refusal}; " if pong.refusal else ""
            raise Unavailable(f"the embedded PostgreSQL is not ready yet; {answer}its log is '{layout.log}'; try again")
        time.sleep(POLL_S)
    return None


def _ask(layout: Layout) -> Pong:
    """Asks for a session once the server says that it is ready: each one that it refuses is a line in its log."""
    with suppress(OSError, IndexError):
        if layout.postmaster_file.read_text().splitlines()[7].strip() == "ready":
            return ping(layout.socket)
    return Pong()


def _open_log(layout: Layout) -> IO[bytes]:
    if layout.log.exists() and layout.log.stat().st_size > LOG_BYTES:
        layout.log.replace(layout.log.with_suffix(".log.1"))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    log = os.fdopen(os.open(layout.log, flags, 0o600), "ab")
    log.seek(0, os.SEEK_END)
    return log


def _log_tail(layout: Layout, *, since: int) -> str:
    """Returns the end of what was logged since an offset."""
    with layout.log.open("rb") as log:
        end = log.seek(0, os.SEEK_END)
        log.seek(max(since, end - LOG_TAIL_BYTES))
        return log.read().decode(errors="replace").strip()
