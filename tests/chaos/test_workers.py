"""Workers are killed in the middle of what they do, beside a crowd, and gardeners work beside learners, several at once."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from tests.chaos.crowd import Crowd, gathered
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.chaos.scene import DEADLINE_S, ROOT, eventually
from tests.chaos.working import ADAPTERS, Order, Task, settings
from tests.conftest import new_database
from tests.tribes import Tribal, open_tribal
from tributary.service import open_memory, open_operator

ROUNDS = rounds(1)
WORKING = Path(__file__).with_name("working.py")
RESTORING = """
import json, sys
from tests.chaos.working import ADAPTERS, settings
from tributary.service import open_operator

url, lines = json.loads(sys.stdin.readline())

def said():
    for number, line in enumerate(lines):
        if number == len(lines) // 2:
            print("half", flush=True)
            sys.stdin.readline()  # never comes: here it is killed
        yield line.encode()

with open_operator(settings(url), adapters=ADAPTERS) as operator:
    operator.restore(said())
"""


class Worker:
    """A process of working.py."""

    def __init__(self, order: Order) -> None:
        self._told: list[str] = []
        self._process = _started([str(WORKING)])
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(dataclasses.asdict(order)) + "\n")
        self._process.stdin.flush()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):  # else it was killed while it wrote it
                self._told.append(line)

    def is_at_it(self) -> None:
        """Returns once it has done its task for the first time, and so is doing it again."""
        until = time.monotonic() + DEADLINE_S
        while not self._told:
            assert self._process.poll() is None, self._process.communicate()
            assert time.monotonic() < until, "the worker never got to work"
            time.sleep(0.005)

    def dies(self) -> set[str]:
        """Kills it, and returns the lessons that it was told are kept."""
        with self._process:
            self._process.kill()
            self._reading.join()
        return {lesson_id for line in self._told for lesson_id in json.loads(line)}


def _started(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@contextmanager
def _busy_crowd(url: str, seed: int) -> Iterator[tuple[Crowd, str, str]]:
    """Gives a crowd at work, with the name of its first tribe and the token of a curator of it."""
    with gathered(url, tribes=1, writers=2, readers=1, seed=seed) as crowd:
        with open_operator(settings(url), adapters=ADAPTERS) as operator:
            name = operator.tribes()[0].name
            token = operator.rotate(name, crowd.tribes[0].curators[0].name, keep_others=True).secret
        yield crowd, name, token


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_workers_that_are_killed_in_the_middle_of_their_tasks_leave_all_whole(database_url: str, seed: int) -> None:
    drawn = random.Random(seed)
    with _busy_crowd(database_url, seed) as (crowd, tribe, token):
        orders = [Order(url=database_url, token=token, tribe=tribe, task=task, name=f"{task}-{seed}") for task in Task]
        workers = [Worker(order) for order in orders]
        for worker in workers:
            worker.is_at_it()
        told: set[str] = set()
        with crowd.busy():
            crowd.goes_on()
            for worker in drawn.sample(workers, len(workers)):
                crowd.goes_on(writes=drawn.randint(1, 15), reads=1)
                told |= worker.dies()
            crowd.goes_on()
        _settles(crowd)
        with psycopg.connect(database_url) as connection:
            kept = {str(one) for (one,) in connection.execute("SELECT lesson_id FROM tributary.lesson")}
            assert told
            assert told <= kept
            _no_action_is_left_begun(crowd, connection)
        assert broken(database_url) == []


def _settles(crowd: Crowd) -> None:
    """What any worker that comes next does for those that died."""
    crowd.settle()
    assert crowd.complaints() == []
    with psycopg.connect(crowd.url, autocommit=True) as connection:
        connection.execute("UPDATE tributary.settling_turn SET until = clock_timestamp()")  # rather than wait for it to end
    crowd.memory.settle_pending()
    crowd.memory.gardener.run_all()
    with psycopg.connect(crowd.url) as connection:
        assert connection.execute("SELECT count(*) FROM tributary.lesson WHERE status = 'pending'").fetchone() == (0,)


def _no_action_is_left_begun(crowd: Crowd, connection: psycopg.Connection) -> None:
    """The one that a worker held when it died is in doubt once its lease has run out, and is no other's."""
    connection.execute(
        "UPDATE tributary.action SET begun_at = begun_at - interval '2 h', lease_until = lease_until - interval '2 h'"
    )
    connection.commit()
    crowd.memory.gardener.run_all()
    found = connection.execute("SELECT DISTINCT state FROM tributary.action WHERE key LIKE 'action-%'").fetchall()
    assert {state for (state,) in found} <= {"done", "in_doubt"}


def test_a_restore_that_is_killed_half_way_leaves_nothing_and_one_that_is_not_leaves_all(
    database_url: str, server_url: str, template: str
) -> None:
    with _busy_crowd(database_url, 1) as (crowd, tribe, _), crowd.busy():
        crowd.goes_on()
        with open_operator(settings(database_url), adapters=ADAPTERS) as operator:
            lines: list[bytes] = []
            operator.export(tribe, lines.append)
            crowd.goes_on()
    with new_database(server_url, template) as other:
        with _started(["-c", RESTORING]) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([other, [line.decode() for line in lines]]) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "half\n"
            process.kill()
        with open_operator(settings(other), adapters=ADAPTERS) as operator:
            assert operator.tribes() == ()
            assert broken(other) == []
            operator.restore(lines)
            again: list[bytes] = []
            operator.export(tribe, again.append)
        assert again == lines
        assert broken(other) == []


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_gardeners_beside_learners_change_nothing_of_what_is_believed(database_url: str, seed: int) -> None:
    """Several gardeners tend the crowd's tribe, and one of two others in which the same is learned in the same order."""
    with (
        _busy_crowd(database_url, seed) as (crowd, _, _),
        open_tribal(database_url, name="tended", judge=ADAPTERS.judge) as tended,
        open_tribal(database_url, name="left-alone", judge=ADAPTERS.judge) as alone,
        ThreadPoolExecutor(GARDENERS) as pool,
    ):
        stopped = threading.Event()
        with crowd.busy():
            tribes = (tended.tribe_id, crowd.tribes[0].tribe_id)
            working = [pool.submit(_gardens, database_url, tribes, stopped) for _ in range(GARDENERS)]
            try:
                for tribal in (tended, alone):
                    _learns(tribal, random.Random(seed))
                crowd.goes_on()
                eventually(lambda: _stamped(tended) > 0 or any(one.done() for one in working))
            finally:
                stopped.set()
            assert all(one.result() > 0 for one in working)
        assert _stamped(tended) > 0
        assert _stamped(alone) == 0
        assert _believed(tended) == _believed(alone) != set()
        _settles(crowd)
    assert broken(database_url) == []


GARDENERS, LEARNS, OVER = 3, 24, 6


def _gardens(url: str, tribes: tuple[UUID, ...], stopped: threading.Event) -> int:
    """Tends tribes as a process of its own does, until it is stopped; returns how often."""
    runs = 0
    with open_memory(settings(url), adapters=ADAPTERS) as memory:
        while not stopped.is_set():
            for tribe_id in tribes:
                memory.gardener.run(tribe_id)
            runs += 1
    return runs


def _learns(tribal: Tribal, drawn: random.Random) -> None:
    """Has three agents contradict and confirm each other, and say what is soon over."""
    agents = [tribal.curator, tribal.agent("first"), tribal.agent("second")]
    for _ in range(LEARNS):
        bay = f"bay{drawn.randrange(4)}"
        tribal.learn(drawn.choice(agents), f"the tide of {bay} is at {drawn.randrange(3)} metres", subject=bay)
    for number in range(OVER):  # last, since a learn ends by itself what it finds to be over
        soon = datetime.now(UTC) + timedelta(milliseconds=100)
        tribal.learn(drawn.choice(agents), f"the tide of day {number} is high", subject=f"day {number}", valid_until=soon)
    eventually(lambda: datetime.now(UTC) > soon)


def _believed(tribal: Tribal) -> set[str]:
    asked = [f"the tide of bay{bay} is at {metres} metres" for bay in range(4) for metres in range(3)]
    asked += [f"the tide of day {number} is high" for number in range(OVER)]
    return {hit.lesson.text for query in asked for hit in tribal.recall(query, limit=50).hits}


def _stamped(tribal: Tribal) -> int:
    """Returns of how many lessons it was written down that time has ended them."""
    ended = "SELECT FROM tributary.lesson_event WHERE tribe_id = %s AND event = 'retired' AND details ->> 'cause' = 'expired'"
    return len(tribal.rows(ended, tribal.tribe_id))
