"""PgBouncer in transaction pooling mode, the stand-in for RDS Proxy."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.network import free_port


def program() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


def make_login(database_url: str, user: str) -> None:
    """Makes a login that may do what running code does, if there is none yet."""
    statement = sql.SQL(
        "DO $$ BEGIN CREATE ROLE {} LOGIN IN ROLE tributary_runtime; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(user)))


class Bouncer:
    """One PgBouncer, as user `user`, that can be ended and started again at the same address."""

    def __init__(self, command: Sequence[str], *, port: int, log: Path, user: str, database: str) -> None:
        self._command = command
        self._port = port
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://{user}@127.0.0.1:{port}/{database}"
        self._console = f"postgresql://{user}@127.0.0.1:{port}/pgbouncer"

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        _wait_for(self._port, self._log)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends it by a signal: at once, whatever its clients wait for."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(10)

    def say(self, command: LiteralString) -> None:
        """Has its console carry out a command, such as PAUSE, which returns when no transaction is open any more."""
        # the console knows nothing of bound values or transactions
        with psycopg.connect(self._console, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
            connection.execute(command)


@contextmanager
def pooled(server_url: str, *, user: str, pool_size: int = 4) -> Iterator[str]:
    """Runs PgBouncer in front of the server at `server_url` and gives the URL of the same database through it, as `user`."""
    with bouncing(server_url, user=user, pool_size=pool_size) as bouncer:
        yield bouncer.url


@contextmanager
def bouncing(server_url: str, *, user: str, pool_size: int = 4) -> Iterator[Bouncer]:
    """As `pooled`, and gives the PgBouncer itself."""
    found = program()
    if found is None:
        raise FileNotFoundError("pgbouncer is not installed; run 'make system-deps'")
    parts = conninfo_to_dict(server_url)
    with tempfile.TemporaryDirectory(prefix="bouncer") as name:
        folder = Path(name)
        port = free_port()
        (folder / "users.txt").write_text(f'"{user}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"""[databases]
{parts["dbname"]} = host={parts["host"]} port={parts.get("port", 5432)} dbname={parts["dbname"]}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
admin_users = {user}
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
logfile = {folder}/log
pidfile = {folder}/pid
"""
        )
        command = [*_as_who(folder, server_url), found, str(folder / "pgbouncer.ini")]
        bouncer = Bouncer(command, port=port, log=folder / "log", user=user, database=str(parts["dbname"]))
        bouncer.start()
        try:
            yield bouncer
        finally:
            bouncer.stop()


def _as_who(folder: Path, server_url: str) -> list[str]:
    """PgBouncer refuses to run as root: then it runs as the server's own account, which the server is told to let in."""
    if os.geteuid() != 0:
        return []
    with psycopg.connect(server_url, autocommit=True) as connection:
        data, ident = connection.execute(
            "SELECT current_setting('data_directory'), current_setting('ident_file')"
        ).fetchone() or ("", "")
        account = pwd.getpwuid(Path(data).stat().st_uid)
        rule = f'owner "{account.pw_name}" all\n'
        if rule not in Path(ident).read_text():
            with Path(ident).open("a") as stream:
                stream.write(rule)
            connection.execute("SELECT pg_reload_conf()")
    for path in (folder, *folder.iterdir()):
        os.chown(path, account.pw_uid, account.pw_gid)
    return ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]


def _wait_for(port: int, log: Path) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(log.read_text() if log.exists() else "pgbouncer did not start")
