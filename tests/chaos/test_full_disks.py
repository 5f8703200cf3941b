"""A disk is full under a crowd, that of the log or that of the data: writes are unavailable, nothing acknowledged is lost.

TRIBUTARY_CHAOS_ROUNDS says how often (once by default).
"""

from __future__ import annotations

import os
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

ROUNDS = rounds(1)
SETTINGS = "max_wal_size = '256MB'\nshared_buffers = '32MB'\nautovacuum = off\nfsync = off\n"
"""No checkpoint of its own gives back room in the log; that it is not forced to the disk leaves out waiting, and nothing else."""


@contextmanager
def server_on(disk: Disk, *, log: bool) -> Iterator[Node]:
    """Runs a server with a migrated database, whose write-ahead log, or whose data, lies on a disk."""
    node = new_node(disk.folder, "server", int(CHOSEN) if CHOSEN in ("16", "18") else 18)
    try:
        yield node
    finally:
        node.kill()


def unanswered(crowd: Crowd) -> int:
    return len(crowd.ledger.all(Standing.UNKNOWN))
