"""The setting of a crash: a tribe that believes something, one learn to be interrupted, and what must be true afterwards."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.chaos.books import complaints, state
from tests.chaos.crashing import Answer, Death, Order
from tests.tribes import Tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import Learned

CRASHING = Path(__file__).with_name("crashing.py")
ROOT = Path(__file__).parents[2]
DEADLINE_S = 60.0
KEY = "the-one-key"


@dataclass(frozen=True, kw_only=True)
class Learn:
    """A learn and what it comes to: the events of its tick, in order."""

    text: str
    role: Role
    outcome: str
    events: tuple[str, ...]
    subject: str = "deploy-api"
    situation: str = "deploying a service"


BELIEVED = "The deploy API needs the header X-Batch: 10"
LEARNS = {
    "fresh": Learn(
        text="The rollout waits for the migration",
        subject="rollout",
        role=Role.WRITER,
        outcome="learned",
        events=("learned",),
    ),
    "superseding": Learn(
        text="The deploy API needs the header X-Batch: 20",
        role=Role.CURATOR,
        outcome="superseded",
        events=("learned", "superseded"),
    ),
    "disputed": Learn(
        text="The deploy API needs the header X-Batch: 20",
        role=Role.WRITER,
        outcome="disputed",
        events=("disputed", "challenged"),
    ),
    "reinforcing": Learn(
        text=BELIEVED,
        role=Role.WRITER,
        outcome="reinforced",
        events=("reinforced",),
    ),
    "quarantined": Learn(
        text="HIJACK the reader",
        role=Role.WRITER,
        outcome="quarantined",
        events=("quarantined",),
    ),
}


class Child:
    """A process of crashing.py, which loads its modules while the scene is set."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", CRASHING],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def is_told(self, order: Order) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(dataclasses.asdict(order)) + "\n")
        self._process.stdin.flush()

    def dies(self) -> None:
        self._process.kill()
        self._process.wait(DEADLINE_S)

    def ends(self) -> int:
        """Returns the exit code, below zero when a signal ended it."""
        return self._process.wait(DEADLINE_S)

    def answer(self) -> dict[str, object]:
        """Returns what the process said before it ended well."""
        said, complained = self._process.communicate(timeout=DEADLINE_S)
        assert self._process.returncode == 0, complained
        answer: dict[str, object] = json.loads(said)
        return answer

    def close(self) -> None:
        with self._process:
            self._process.kill()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """`clock` and `before` are the tribe's clock and a digest of the database before the learn."""

    tribal: Tribal
    learn: Learn
    agent: Principal
    token: str
    clock: int
    before: dict[str, str]

    def order(self, *, url: str | None = None, death: Death | None = None) -> Order:
        return Order(
            url=url or self.tribal.url,
            token=self.token,
            key=KEY,
            text=self.learn.text,
            situation=self.learn.situation,
            subject=self.learn.subject,
            death=death,
        )

    def retry(self) -> Learned:
        return self.tribal.memory.learn(self.agent, self.order().draft, idempotency_key=KEY)

    def was_committed(self) -> bool:
        """Tells whether the interrupted learn is wholly there (True) or wholly not (False); fails when it is neither."""
        assert complaints(self.tribal) == set()
        if self._keys():
            assert self._now_at() == self.clock + 1
            return True
        assert state(self.tribal.url) == self.before
        return False

    def ends_well(self) -> Answer:
        """Returns the answer that every retry gets: that of the first try, if it was committed."""
        committed = self.was_committed()
        stored = self._keys()
        first, second = self.retry(), self.retry()
        answer = Answer.of(first)
        assert (first.replayed, second.replayed) == (committed, True)
        assert Answer.of(second) == answer
        for kept in stored:
            assert (kept["decision_id"], kept["lesson_id"], kept["tick"]) == (answer.decision_id, answer.lesson_id, answer.tick)
        self.is_there_once(answer)
        return answer

    def is_there_once(self, answer: Answer) -> None:
        """Checks that the learn was done once, with all that belongs to it."""
        assert complaints(self.tribal) == set()
        assert answer.outcome == self.learn.outcome
        assert answer.tick == self._now_at() == self.clock + 1
        lessons = self.tribal.rows(
            "SELECT lesson_id::text FROM tributary.lesson WHERE tribe_id = %s AND text = %s",
            self.tribal.tribe_id,
            self.learn.text,
        )
        assert lessons == [{"lesson_id": answer.lesson_id}]
        events = self.tribal.rows(
            "SELECT event FROM tributary.lesson_event WHERE tribe_id = %s AND tick > %s ORDER BY tick, seq",
            self.tribal.tribe_id,
            self.clock,
        )
        assert tuple(row["event"] for row in events) == self.learn.events
        assert len(self._keys()) == 1

    def _keys(self) -> list[dict[str, object]]:
        return self.tribal.rows(
            """SELECT reply ->> 'decision_id' AS decision_id, reply ->> 'lesson_id' AS lesson_id,
                      (reply -> 'tick')::bigint AS tick
               FROM tributary.idempotency WHERE tribe_id = %s AND agent_id = %s""",
            self.agent.tribe_id,
            self.agent.agent_id,
        )

    def _now_at(self) -> object:
        return self.tribal.rows("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", self.tribal.tribe_id)[0]["clock"]


def set_scene(tribal: Tribal, learn: Learn) -> Scene:
    """Gives the tribe something to believe and an agent that is about to learn."""
    seeder = tribal.agent("seeder")
    tribal.learn(seeder, "Logs of the gateway are in /var/log/gateway", situation="reading logs", subject="gateway")
    known = tribal.learn(seeder, BELIEVED, situation="deploying a service", subject="deploy-api")
    token = tribal.token("doomed", learn.role)
    return Scene(
        tribal=tribal,
        learn=learn,
        agent=tribal.memory.authenticate(token),
        token=token,
        clock=known.tick,
        before=state(tribal.url),
    )


class Gate:
    """A session that holds a tribe's gate, so that commits wait for it."""

    def __init__(self, tribal: Tribal, connection: psycopg.Connection) -> None:
        self._tribal = tribal
        self._connection = connection
        connection.execute("SELECT FROM tributary.tribe WHERE tribe_id = %s FOR NO KEY UPDATE", (tribal.tribe_id,))

    def waiting(self) -> set[int]:
        """Returns the backends that wait for a lock."""
        found = self._tribal.rows(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0"
        )
        return {int(str(row["pid"])) for row in found}

    def has_waiting(self, n: int, *, besides: frozenset[int] = frozenset()) -> frozenset[int]:
        """Returns n waiting backends, once there are so many."""
        eventually(lambda: len(self.waiting() - besides) >= n)
        return frozenset(self.waiting() - besides)

    def opens(self) -> None:
        self._connection.rollback()

    def opens_for(self, backends: frozenset[int]) -> None:
        """Opens, and returns when the backends have ended, having done whatever they still do without their client."""
        self.opens()
        eventually(lambda: not self._tribal.rows("SELECT pid FROM pg_stat_activity WHERE pid = ANY (%s)", list(backends)))


@contextmanager
def gate_held(tribal: Tribal) -> Iterator[Gate]:
    with closing(psycopg.connect(tribal.url)) as connection:
        yield Gate(tribal, connection)


def eventually(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < until, "it never came to pass"
        time.sleep(0.005)


def socket_of(url: str) -> str:
    """Returns the path of the server's socket; skips where there is none."""
    parts = conninfo_to_dict(url)
    if not str(parts["host"]).startswith("/"):
        pytest.skip("the relay speaks to a Unix socket, and this server has none")
    return f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"


def through(folder: str, url: str) -> str:
    """Returns `url` by way of the relay that listens in `folder`."""
    return f"postgresql://postgres@/{conninfo_to_dict(url)['dbname']}?host={folder}&port=5432"


def at_once(calls: Sequence[Callable[[], object]]) -> None:
    """Runs the calls in threads that start together; an exception of one escapes."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        barrier.wait(DEADLINE_S)
        call()

    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(run, calls))
