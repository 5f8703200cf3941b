"""A disk is full under a crowd, that of the log or that of the data: writes are unavailable, nothing acknowledged is lost.

TRIBUTARY_CHAOS_ROUNDS says how often: a tenth of it, once at least.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from tests.chaos.crowd import Crowd, gathered
from tests.chaos.crowd_ledger import Standing
from tests.chaos.full_disks import Disk, small_disk
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.chaos.scene import eventually
from tests.conftest import CHOSEN
from tests.standby import Node, new_node
from tributary.store import Target
from tributary.store.migrate import migrate

ROUNDS = rounds(1, costly=True)
SETTINGS = "max_wal_size = '256MB'\nshared_buffers = '32MB'\nautovacuum = off\nfsync = off\n"
"""No checkpoint of its own gives back room in the log; that it is not forced to the disk leaves out waiting, and nothing else."""


@pytest.fixture
def disk() -> Iterator[Disk]:
    with small_disk(160) as made:
        yield made


@contextmanager
def serving(disk: Disk, *, log: bool) -> Iterator[Node]:
    """Runs a server with a migrated database named chaos, of which either the log or the data lies on the disk."""
    with tempfile.TemporaryDirectory(prefix="trb-full-", ignore_cleanup_errors=True) as name:
        node = new_node(Path(name), "server", int(CHOSEN) if CHOSEN in ("16", "18") else 18)
        files = disk.folder / "files"
        files.mkdir(mode=0o700)
        shutil.chown(files, node.account.uid, node.account.gid)
        if log:
            node.make_data(SETTINGS, "--waldir", files)
        else:
            node.data.symlink_to(files)
            node.make_data(SETTINGS, "--waldir", node.folder / "log-files")
        node.start()
        try:
            node.ask("CREATE DATABASE chaos")
            migrate(Target(url=node.url("chaos")))
            yield node
        finally:
            node.kill()


def goes_unanswered(crowd: Crowd) -> None:
    """Returns once writes fail that did not fail before."""
    before = len(crowd.ledger.all(Standing.UNKNOWN))
    eventually(lambda: len(crowd.ledger.all(Standing.UNKNOWN)) > before)


def panics(node: Node) -> None:
    """Returns once the server has ended itself, one time more than before."""
    before = node.log.read_text().count("PANIC")
    eventually(lambda: node.log.read_text().count("PANIC") > before)


@pytest.mark.timeout(60 + 30 * ROUNDS)
def test_a_full_disk_of_the_data_leaves_reads_and_loses_nothing(disk: Disk) -> None:
    with serving(disk, log=False) as node, gathered(node.url("chaos")) as crowd:
        for _ in range(ROUNDS):
            with crowd.busy():
                crowd.goes_on()
                with disk.full():
                    goes_unanswered(crowd)
                    crowd.reads_on()
                crowd.goes_on()
            crowd.settle()
            assert "No space left on device" in node.log.read_text()
            assert "PANIC" not in node.log.read_text()
            assert crowd.complaints() == []
            assert broken(crowd.url) == []


@pytest.mark.timeout(60 + 30 * ROUNDS)
def test_a_full_disk_of_the_log_stops_the_server_and_loses_nothing(disk: Disk) -> None:
    """PostgreSQL ends itself rather than acknowledge what it cannot write down, and recovers once there is room again."""
    with serving(disk, log=True) as node, gathered(node.url("chaos")) as crowd:
        for _ in range(ROUNDS):
            with crowd.busy():
                crowd.goes_on()
                with disk.full():
                    panics(node)
                started_again(node)
                crowd.goes_on()
            crowd.settle()
            assert "No space left on device" in node.log.read_text()
            assert crowd.complaints() == []
            assert broken(crowd.url) == []


def started_again(node: Node) -> None:
    """Starts a server that ended, as whoever made room does; one that is recovering by itself is left to it."""

    def serves() -> bool:
        with suppress(AssertionError):
            node.start()
        with suppress(psycopg.OperationalError):
            return node.ask("SELECT true") is True
        return False

    eventually(serves)
