"""PgBouncer in transaction pooling mode, the stand-in for RDS Proxy."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def pooled(server_url: str, *, user: str, pool_size: int = 4) -> Iterator[str]:
    """Runs PgBouncer in front of the server at `server_url` and gives the URL of the same database through it, as `user`."""
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
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
logfile = {folder}/log
pidfile = {folder}/pid
"""
        )
        command = [*_as_who(folder, server_url), found, str(folder / "pgbouncer.ini")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            _wait_for(port, folder / "log")
            yield f"postgresql://{user}@127.0.0.1:{port}/{parts['dbname']}"
        finally:
            process.terminate()
            process.wait(10)


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
