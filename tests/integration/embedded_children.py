"""Processes for test_embedded.py, run by path: `python embedded_children.py <what> <home> [...]`.

Each says on stdout, one word a line, how far it is, and goes on when it reads a line or the end of its stdin.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg

from tributary.store._embedded_keeper import PORT, Layout, open_lock, take, transient_lock
from tributary.store._embedded_ping import ping
from tributary.store.embedded import EmbeddedPostgres

NOBODY = 65534


def started_at(postgres: EmbeddedPostgres) -> str:
    """Returns what tells one server process from another."""
    with psycopg.connect(postgres.url()) as connection:
        row = connection.execute("SELECT extract(epoch FROM pg_postmaster_start_time())::text").fetchone()
    assert row is not None
    return str(row[0])


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def hold(home: Path) -> None:
    """Is a member until it reads a line."""
    with EmbeddedPostgres.join(home, fast=True) as postgres:
        say(started_at(postgres))
        sys.stdin.readline()


def race(home: Path) -> None:
    """Says that it is about to join, and does so when it reads a line."""
    say("here")
    sys.stdin.readline()
    hold(home)


def insert(home: Path) -> None:
    """Commits a row, durably, and stays a member."""
    postgres = EmbeddedPostgres.join(home)
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('committed')")
    say("committed")
    sys.stdin.readline()
    os._exit(0)  # without close


def churn(home: Path, rounds: str) -> None:
    """Joins, asks and leaves, over and over."""
    for _ in range(int(rounds)):
        with EmbeddedPostgres.join(home, fast=True) as postgres:
            started_at(postgres)
    say("done")


def fork(home: Path) -> None:
    """Joins, forks and dies; the forked child lives on with its parent's membership."""
    postgres = EmbeddedPostgres.join(home, fast=True)
    if os.fork():
        os._exit(0)
    say(started_at(postgres))
    sys.stdin.readline()
    os._exit(0)


def fork_amid_a_lock(home: Path) -> None:
    """Forks while it has a transient lock, and lets go of that; the forked child lives on."""
    with transient_lock(home / "some.lock") as lock:
        take(lock, fcntl.LOCK_EX)
        if os.fork() == 0:
            say("forked")
            sys.stdin.readline()
            os._exit(0)
    say("let go")
    os.wait()


def ask_as_another(folder: Path) -> None:
    """Asks the server in `folder` for a session as the account nobody; needs root."""
    os.chdir(folder)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    say(repr(ping(Path(f".s.PGSQL.{PORT}"))))


def pretend_to_serve(home: Path) -> None:
    """Passes for a server that no fast shutdown stops, and says which signals it gets."""
    layout = Layout(home=home, major=18)
    for folder in (layout.data, layout.run / "socket"):
        folder.mkdir(parents=True)
    layout.postmaster_file.write_text(f"{os.getpid()}\n")
    with open_lock(layout.server) as lock, socket.socket(socket.AF_UNIX) as listener:
        take(lock, fcntl.LOCK_EX)
        listener.bind(os.fspath(layout.socket))
        listener.listen()
        waited_for = {signal.SIGINT, signal.SIGQUIT}
        signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
        say("serving")
        for _ in waited_for:
            say(signal.Signals(signal.sigwait(waited_for)).name)


COMMANDS: dict[str, Callable[..., None]] = {
    command.__name__: command for command in (hold, race, insert, churn, fork, fork_amid_a_lock, ask_as_another, pretend_to_serve)
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
