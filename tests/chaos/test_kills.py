"""PostgreSQL is killed and started again under a crowd, again and again: nothing acknowledged is lost, nothing is there twice.

TRIBUTARY_CHAOS_ROUNDS says how often: a tenth of it, twice at least.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.chaos.crowd import gathered
from tests.chaos.invariants import broken
from tests.chaos.killing import kill_backend, kill_server
from tests.chaos.rounds import rounds
from tests.conftest import database_at
from tributary.store import Target
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

ROUNDS = rounds(2, costly=True)
SLOW_WRITER = {"wal_writer_delay": "10s", "wal_writer_flush_after": "64MB"}
"""What a commit does not wait for stays in memory for so long: only the control's commits do not wait."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A durable server; `url` is a superuser's."""

    home: Path
    url: str

    def new_database(self, setting: str | None = None) -> str:
        """Makes a migrated database, with a setting of its own."""
        name = f"chaos_{uuid.uuid4().hex}"
        self.ask(f"CREATE DATABASE {name}")
        if setting is not None:
            self.ask(f"ALTER DATABASE {name} SET {setting}")
        migrate(Target(url=database_at(self.url, name)))
        return database_at(self.url, name)

    def ask(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def dies_and_is_started(self) -> None:
        kill_server(self.home)
        EmbeddedPostgres.join(self.home, settings=SLOW_WRITER).close()  # the fixture is a member still, so it runs on


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with (
        tempfile.TemporaryDirectory(prefix="tributary-kills-", ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres.join(Path(folder), settings=SLOW_WRITER) as postgres,
    ):
        yield Server(home=Path(folder), url=postgres.url())


@pytest.mark.timeout(60 + 20 * ROUNDS)
def test_a_server_that_is_killed_under_load_loses_nothing_acknowledged(server: Server) -> None:
    drawn = Random(9)
    with gathered(server.new_database()) as crowd:
        for number in range(ROUNDS):
            with crowd.busy():
                crowd.goes_on(writes=drawn.randrange(10, 60))
                if number % 2:
                    kill_backend(crowd.url)
                else:
                    server.dies_and_is_started()
                crowd.goes_on()
            crowd.settle()
            assert crowd.complaints() == []
            assert broken(crowd.url) == []


def test_commits_that_wait_for_no_disk_are_lost_and_found_to_be(server: Server) -> None:
    """The control: takes out the waiting for the write-ahead log, so that PostgreSQL acknowledges what is in memory only."""
    with gathered(server.new_database("synchronous_commit = off")) as crowd:
        server.ask("CHECKPOINT")  # who the crowd is has reached the disk, what it says from here on has not
        with crowd.busy():
            crowd.goes_on()
            server.dies_and_is_started()
        crowd.settle()
        assert any("was acknowledged at tick" in one and "its key is lost" in one for one in crowd.complaints())
