"""A primary and its streaming standby, made with pg_basebackup: two servers on Unix sockets in one temporary folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tributary.store import Target
from tributary.store._embedded_account import Account, let_reach, let_read, server_account
from tributary.store._embedded_cluster import programs, run
from tributary.store.migrate import migrate

PATIENCE_S = 30
PORT = 5432
FAST = "fsync = off\nfull_page_writes = off\nmax_wal_senders = 4\nshared_buffers = '32MB'\nautovacuum = off\n"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One server: its data, its log, and the folder of its socket."""

    folder: Path
    bin_folder: Path
    account: Account

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}&port={PORT}"

    def command(self, *words: str | Path) -> None:
        done = run([self.bin_folder / words[0], *words[1:]], account=self.account, timeout_s=60, output=-1)
        assert done.returncode == 0, done.stdout

    def make_data(self, settings: str, *options: str | Path) -> None:
        """Makes an empty cluster with these lines in its settings; `options` are initdb's."""
        self.command("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D", self.data, *options)
        with (self.data / "postgresql.conf").open("a") as stream:
            stream.write(settings)

    def start(self) -> None:
        """Starts the server unless it runs, and returns once it answers."""
        if (self.data / "postmaster.pid").exists():
            return
        options = f"-c listen_addresses= -c port={PORT} -c unix_socket_directories={self.folder}"
        # its words go to the log alone: a server that held our pipe open would keep us waiting for its end
        shell = f'"{self.bin_folder}/pg_ctl" start -w -t {PATIENCE_S} -D "{self.data}" -l "{self.log}" -o "{options}" > /dev/null'
        self.command_in_shell(shell)

    def command_in_shell(self, script: str) -> None:
        done = run(["/bin/sh", "-c", script], account=self.account, timeout_s=60)
        assert done.returncode == 0, self.log.read_text() if self.log.exists() else script

    def kill(self) -> None:
        """Ends the server at once, as a crash does."""
        if (self.data / "postmaster.pid").exists():
            self.command("pg_ctl", "stop", "-m", "immediate", "-w", "-D", self.data)

    def ask(self, query: str, database: str = "postgres") -> object:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            row = cursor.fetchone() if cursor.description is not None else None
        return row[0] if row else None

    def promote(self) -> None:
        """Makes a standby a primary, which takes writes when this returns."""
        assert self.ask(f"SELECT pg_promote(true, {PATIENCE_S})"), self.log.read_text()

    def waits_for_standby(self, waits: bool) -> None:
        """Has each commit from here on wait until the standby has it, too, or not."""
        wanted = "*" if waits else ""
        self.set("synchronous_standby_names", wanted)
        # who waits is told by the checkpointer, which reads its settings before it does what it is asked to
        self.ask("CHECKPOINT")

    def set(self, setting: str, value: str) -> None:
        """Sets one of PostgreSQL's settings, and returns when new sessions have it."""
        self.ask(f"ALTER SYSTEM SET {setting} = '{value}'")
        self.ask("SELECT pg_reload_conf()")
        until("a setting", lambda: self.ask(f"SELECT current_setting('{setting}')") == value)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A primary with its standby."""

    primary: Node
    standby: Node

    def pause(self) -> None:
        """Keeps the standby from replaying more; what is committed now it hears of, but does not show."""
        self.standby.ask("SELECT pg_wal_replay_pause()")
        until("pausing", lambda: self.standby.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        self.standby.ask("SELECT pg_wal_replay_resume()")
        self.catch_up()

    def cut(self) -> None:
        """Keeps the standby from hearing of what is committed from here on, which is lost when it is promoted."""
        self.catch_up()
        self.standby.set("primary_conninfo", "")
        until("cutting", lambda: not self.standby.ask("SELECT count(*) FROM pg_stat_wal_receiver"))

    def catch_up(self) -> None:
        """Waits until the standby shows all that was committed so far."""
        position = self.primary.ask("SELECT pg_current_wal_lsn()::text")
        until("catching up", lambda: bool(self.standby.ask(f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn")))

    def new_database(self) -> str:
        """Makes a migrated database and returns its name, once the standby has it too."""
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self.primary.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE migrated").format(sql.Identifier(name)))
        self.catch_up()
        return name

    def start(self) -> None:
        self.primary.start()
        self.standby.start()
        self.resume()


def until(what: str, done: Callable[[], bool]) -> None:
    """Waits for something to be so; raises TimeoutError with the name of what never was."""
    ends_at = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > ends_at:
            raise TimeoutError(what)
        time.sleep(0.02)


@contextmanager
def replicating(major: int) -> Iterator[Pair]:
    """Runs a primary that holds the migrated database `migrated`, and its standby, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="trb-pair-", ignore_cleanup_errors=True) as name:
        primary = new_node(Path(name), "primary", major)
        primary.make_data(FAST)
        primary.start()
        standby = new_node(Path(name), "standby", major)
        try:
            with psycopg.connect(primary.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE migrated")
            migrate(Target(url=primary.url("migrated")))
            copy_standby(primary, standby)
            yield Pair(primary=primary, standby=standby)
        finally:
            standby.kill()
            primary.kill()


def copy_standby(primary: Node, standby: Node) -> None:
    """Makes the standby anew from the primary, and starts it."""
    standby.kill()
    shutil.rmtree(standby.data, ignore_errors=True)
    source = f"host={primary.folder} port={PORT} user=postgres"
    standby.command("pg_basebackup", "-d", source, "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
    standby.start()


def new_node(folder: Path, name: str, major: int) -> Node:
    """Returns a server to be made in `folder`, whose account may reach what it needs."""
    account, bin_folder = server_account(), programs(major)
    node = Node(folder=folder / name, bin_folder=bin_folder, account=account)
    node.folder.mkdir(mode=0o755)
    if account.switched:
        let_reach(bin_folder.parent, account)
        package = bin_folder.parents[1]
        for tree in (bin_folder.parent, package.with_name(f"{package.name}.libs")):
            if tree.is_dir():
                let_read(tree)
        os.chown(node.folder, account.uid, account.gid)
        let_reach(node.data, account)
    return node
