"""The PostgreSQL that the library runs itself when no DATABASE_URL is set.

    with EmbeddedPostgres.join(Path.home() / ".tributary") as postgres:
        psycopg.connect(postgres.url())

Whoever joins first starts the server, others share it, and it stops with its last member, however that one ends. The data
stays in `<home>/postgres-<major>`. Nothing listens on TCP; the socket lets in the home's owner alone.
"""

from __future__ import annotations

import fcntl
import io
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from tributary.core.errors import BadSetting, Unavailable
from tributary.store._embedded_cluster import programs
from tributary.store._embedded_keeper import (
    PATIENCE_S,
    PORT,
    QUIT_S,
    Layout,
    is_at,
    open_lock,
    stop_server,
    take,
    transient_lock,
    wait_for,
)
from tributary.store._embedded_server import Start, ensure_running

__all__ = ["EmbeddedPostgres"]

DEFAULT_MAJOR = 18
JOIN_TIMEOUT_S = 60.0


class EmbeddedPostgres:
    """A membership in the server of one home. A process may hold several; a forked child shares those of its parent.

    A membership ends with `close`, or with the process.
    """

    def __init__(self, *, layout: Layout, lease: io.FileIO, server_version: str) -> None:
        self._layout = layout
        self._lease: io.FileIO | None = lease
        self._server_version = server_version

    @classmethod
    def join(
        cls,
        home: Path,
        *,
        major: int = DEFAULT_MAJOR,
        fast: bool = False,
        settings: Mapping[str, str] | None = None,
        timeout_s: float = JOIN_TIMEOUT_S,
    ) -> Self:
        """Returns a membership in the server of `home`, which then serves; makes the home, the data and the server as needed.

        `fast` gives up durability for speed and is for tests. `fast` and `settings` (PostgreSQL's own) hold when this call
        starts the server; a running one keeps those it was started with. Raises BadSetting, Corrupt and Unavailable.
        """
        start = Start(fast=fast, settings=dict(settings or {}))
        bin_folder = programs(major)
        until = time.monotonic() + timeout_s
        try:
            layout = _prepare_home(home, major)
            lease = _take_lease(layout, until=until)
            try:
                version = ensure_running(layout, start, bin_folder, until=until)
            except BaseException:
                lease.close()
                raise
        except OSError as error:
            raise BadSetting(f"the home '{home}' cannot be used ({error}); choose another one, or set DATABASE_URL") from error
        return cls(layout=layout, lease=lease, server_version=version)

    @staticmethod
    def is_made(home: Path, *, major: int = DEFAULT_MAJOR) -> bool:
        """Tells whether `home` holds data of this version; makes nothing."""
        return (Layout(home=home.resolve(), major=major).data / "PG_VERSION").exists()

    @property
    def server_version(self) -> str:
        """The server's own words for its version, such as '18.1'."""
        return self._server_version

    @property
    def programs(self) -> Path:
        """The folder of PostgreSQL's own programs, of the newest version: its pg_dump dumps older servers too."""
        return programs(DEFAULT_MAJOR)

    @property
    def log(self) -> Path:
        """The file of the server's log."""
        return self._layout.log

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Returns the URL to connect with, good while the membership lasts; raises Unavailable after that."""
        if self._lease is None:
            raise Unavailable("this membership in the embedded PostgreSQL was closed; join again")
        host = quote(os.fspath(self._layout.socket_folder), safe="")
        return f"postgresql://{quote(user, safe='')}@/{quote(database, safe='')}?host={host}&port={PORT}"

    def close(self) -> None:
        """Ends the membership; the last one to end stops the server first. Closing again does nothing."""
        lease, self._lease = self._lease, None
        if lease is None:
            return
        lease.close()
        with suppress(FileNotFoundError):  # the home was removed, and with it all that there is to stop
            self._stop_if_last()

    def _stop_if_last(self) -> None:
        # Asked of a new open file: a forked child may have the lease's as well, and keeps it.
        with transient_lock(self._layout.members) as members:
            if take(members, fcntl.LOCK_EX):
                stop_server(self._layout)
            else:
                # Others remain, or the keeper was quicker; it is waited for, so that the last close leaves a quiet home.
                _share(members, until=time.monotonic() + PATIENCE_S + QUIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _prepare_home(home: Path, major: int) -> Layout:
    """Returns the layout of a home that is there, ours, and changed by nobody else; raises BadSetting and OSError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    layout = Layout(home=home.resolve(), major=major)
    found = layout.home.stat()
    if found.st_uid != os.geteuid():
        raise BadSetting(
            f"the home '{home}' belongs to user id {found.st_uid}, and we run as {os.geteuid()}; run as its owner, or choose "
            "another home"
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadSetting(f"others may write to the home '{home}'; run: chmod go-w '{home}'")
    layout.run.mkdir(mode=0o700, exist_ok=True)
    return layout


def _take_lease(layout: Layout, *, until: float) -> io.FileIO:
    """Makes us a member. Waits while a server is being stopped."""
    while True:
        lease = open_lock(layout.members)
        if _share(lease, until=until) and is_at(lease, layout.members):
            return lease
        lease.close()
        if time.monotonic() >= until:
            raise Unavailable(f"the embedded PostgreSQL is still being stopped; its log is '{layout.log}'; try again")


def _share(lock: io.FileIO, *, until: float) -> bool:
    return wait_for(lambda: take(lock, fcntl.LOCK_SH), until=until)
