"""Ending servers as crashes do."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import psycopg

from tests.chaos.scene import eventually


def kill_server(home: Path) -> None:
    """Kills the postmaster of an embedded server, whose children end by themselves, and returns when it is gone."""
    postmaster = int(next(home.glob("postgres-*/postmaster.pid")).read_text().splitlines()[0])
    os.kill(postmaster, signal.SIGKILL)
    eventually(lambda: not psutil.pid_exists(postmaster))


def kill_backend(url: str) -> None:
    """Kills one session of the product, for which the server ends all the others and recovers, as after a crash of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            """SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tributary'
               ORDER BY state = 'active' DESC, random() LIMIT 1"""
        ).fetchone()
        assert found is not None, "nobody of the product is connected"
        os.kill(found[0], signal.SIGKILL)
