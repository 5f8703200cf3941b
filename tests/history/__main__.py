"""Runs random histories and checks each: python -m tests.history --seconds 300 --threads 8 --seed 1"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psycopg

from tests.conftest import database_at
from tests.history.check import check
from tests.history.history import History, run
from tests.history.violations import Violation
from tests.history.world import Beat, Hesitation, World
from tributary.store import Target
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

SHOWN = 20
"""How many violations of a round are printed."""


def main() -> int:
    options = _options()
    for name in [one for one in os.environ if one.startswith(("TRIBUTARY_", "PG"))]:
        del os.environ[name]  # whoever runs this has settings of their own
    until = time.monotonic() + options.seconds
    seed, broken = options.seed, 0
    total: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="tributary-history-", ignore_cleanup_errors=True) as home,
        EmbeddedPostgres.join(Path(home), major=options.postgres, fast=True) as server,
    ):
        url = _migrated(server.url())
        while seed == options.seed or time.monotonic() < until:
            began = time.monotonic()
            # every third history is about little, and its commits meet
            world, pause = (World(matters=2), Beat()) if seed % 3 == 0 else (World(), Hesitation(seed))
            histories = run(url, seed=seed, operations=options.operations, threads=options.threads, world=world, pause=pause)
            ran_s = time.monotonic() - began
            found = [one for history in histories for one in check(history)]
            for history in histories:
                total.update(_figures(history))
            _tell(f"seed {seed}: {_round(histories, ran_s)}, {len(found)} violation(s), checked in {_since(began, ran_s):.1f} s")
            _report(found)
            broken += bool(found)
            seed += 1
    sys.stdout.write(f"{seed - options.seed} histories, {broken} with violations: {_joined(total)}\n")
    return 1 if broken else 0


def _migrated(server_url: str) -> str:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE history")
    url = database_at(server_url, "history")
    migrate(Target(url=url))
    return url


def _figures(history: History) -> Counter[str]:
    outcomes = Counter(f"{row['outcome']}" for row in history.tables.decision)
    replans = sum(row["replans"] for row in history.tables.decision)
    return Counter(calls=len(history.calls), ticks=history.tables.tribe["clock"], replans=replans) + outcomes


def _round(histories: list[History], ran_s: float) -> str:
    calls = sum(len(one.calls) for one in histories)
    ticks = sum(one.tables.tribe["clock"] for one in histories)
    return f"{calls} calls, {ticks} ticks in {ran_s:.1f} s"


def _since(began: float, ran_s: float) -> float:
    return time.monotonic() - began - ran_s


def _report(found: list[Violation]) -> None:
    for one in found[:SHOWN]:
        _tell(f"  {one}")
    if len(found) > SHOWN:
        _tell(f"  and {len(found) - SHOWN} more: {_joined(Counter(one.rule.name for one in found))}")


def _joined(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.most_common())


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.history", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="begin histories for so long; the first is always run")
    parser.add_argument("--operations", type=int, default=1500, help="how many calls a history has")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1, help="of the first history; each further one has the next")
    parser.add_argument("--postgres", type=int, default=18, choices=(16, 18))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
