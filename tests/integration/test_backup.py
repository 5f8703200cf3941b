"""Backups made while the memory works, restored into a server that nobody used before: nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tributary
from tests import backups
from tests.chaos.books import complaints_about
from tests.conftest import CHOSEN
from tests.doubles import RuledJudge
from tests.gardens import garden
from tests.lived import by_number
from tests.restore_drill import drill
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.action import Doubt
from tributary.core.agent import Role
from tributary.core.curation import RetireCause
from tributary.core.decision import Learned
from tributary.core.errors import TributaryError
from tributary.core.lesson import Draft
from tributary.core.verification import Verdict
from tributary.service import open_operator
from tributary.store import Target
from tributary.store.migrate import migrate

OLD = 16 if CHOSEN == "16" else backups.NEWEST
FORMS = ("custom", "plain")


@pytest.fixture(scope="module")
def served() -> Iterator[Tribal]:
    """A memory on a server of its own, of the version under test."""
    with backups.empty_server(OLD) as url:
        migrate(Target(url=url))
        with open_tribal(url, judge=RuledJudge(by_number)) as tribal:
            yield tribal


@dataclass(kw_only=True)
class Crowd:
    """Learners, a curator, the gardener and actions at work. `acknowledged` is kept as replies come: by idempotency key."""

    tribal: Tribal
    acknowledged: list[tuple[str, Draft, Learned]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def working(self) -> Iterator[None]:
        writers = [self.tribal.agent(f"writer-{number}") for number in range(2)]
        jobs: list[Callable[[int], None]] = [
            *(partial(self._learn, who) for who in writers),
            partial(self._act, writers[0]),
            self._curate,
            self._garden,
        ]
        threads = [threading.Thread(target=self._run, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        try:
            while len(self.acknowledged) < 40 or len(self.done) < 3:  # nobody waits for ever: pytest's timeout ends it
                self._stop.wait(0.01)
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        assert self.failures == []

    def _run(self, job: Callable[[int], None]) -> None:
        turn = 0
        while not self._stop.is_set():
            turn += 1
            try:
                job(turn)
            except Exception as error:  # a thread's failure is the test's
                self.failures.append(error)
                return

    def _learn(self, who: Any, turn: int) -> None:
        word = "abcdefghijklmnopqrstuvwxyz"[turn % 26] * (turn // 26 + 1)
        draft = Draft(text=f"{who.name} needs {word} for port {turn % 2}", situation="operating the service", source=SEEN)
        key = f"{who.name}-{turn}"
        self.acknowledged.append((key, draft, self.tribal.memory.learn(who, draft, idempotency_key=key)))

    def _act(self, who: Any, turn: int) -> None:
        actions = self.tribal.memory.actions
        begun = actions.begin(who, f"job:{turn}", "reboot it")
        actions.complete(who, begun.action.action_id, begun.lease or "", {"turn": turn})
        self.done.append(f"job:{turn}")

    def _garden(self, _: int) -> None:
        garden(self.tribal)

    def _curate(self, _: int) -> None:
        if self.acknowledged:
            learned = self.acknowledged[len(self.acknowledged) // 2][2]
            with suppress(TributaryError):  # it was retired before
                assert learned.lesson is not None
                self.tribal.memory.curate.retire(self.tribal.curator, learned.lesson.lesson_id, RetireCause.OUTDATED)
        self._stop.wait(0.02)


@dataclass(frozen=True, kw_only=True)
class Before:
    """What agents hold of the time before the backup began, and the backups."""

    tribal: Tribal
    acknowledged: list[tuple[str, Draft, Learned]]
    done: list[str]
    receipt: dict[str, Any]
    under_way: Any
    writer_token: str
    files: dict[str, Path]


QUESTION = "which port does the writer need"


@pytest.fixture(scope="module")
def before(served: Tribal, tmp_path_factory: pytest.TempPathFactory) -> Before:
    folder = tmp_path_factory.mktemp("backups")
    token = served.token("asker", Role.WRITER)
    crowd = Crowd(tribal=served)
    with crowd.working():
        under_way = served.memory.actions.begin(served.curator, "pay:1", "pay the bill", lease_s=3600)
        receipt = backups.signed(served.recall(QUESTION).receipt)
        acknowledged, done = list(crowd.acknowledged), list(crowd.done)
        files = {form: folder / form for form in FORMS}
        for form, file in files.items():
            backups.dump(served.url, file, form)
        behind = len(crowd.acknowledged)
    assert behind > len(acknowledged)  # it really was at work meanwhile
    return Before(
        tribal=served, acknowledged=acknowledged, done=done, receipt=receipt, under_way=under_way, writer_token=token, files=files
    )


@pytest.mark.parametrize(("form", "major"), [("custom", backups.NEWEST), ("plain", OLD)])
def test_what_was_acknowledged_before_a_dump_under_load_began_is_there_and_goes_on(before: Before, form: str, major: int) -> None:
    tribal = before.tribal
    with backups.empty_server(major) as url:
        backups.load(url, before.files[form], form)
        with psycopg.connect(url, autocommit=True) as connection:
            keys = {"a decision that no key answers with", "a key without its decision"}  # the curator's and the actions' keys
            assert complaints_about(connection, tribal.tribe_id) <= keys
            rows = connection.execute("SELECT decision_id, lesson_id, tick, outcome FROM tributary.decision").fetchall()
        found = {row[0]: row[1:] for row in rows}
        for _, _, learned in before.acknowledged:
            assert learned.lesson is not None
            assert found[learned.decision_id] == (learned.lesson.lesson_id, learned.tick, learned.outcome.value)
        with open_operator(backups.moved(tribal, url), adapters=tribal.adapters) as operator:
            stepped = operator.after_restore(tribal.name)
        assert stepped.in_doubt >= 1
        with backups.memory_at(tribal, url) as memory:
            curator, asker = memory.authenticate(tribal.curator_token), memory.authenticate(before.writer_token)
            assert memory.verify(asker, before.receipt, QUESTION).verdict is Verdict.AGREES
            writers = {one.name: one for one in _writers(url, tribal)}
            for key, draft, learned in before.acknowledged[:: len(before.acknowledged) // 10]:
                again = memory.learn(writers[key.rpartition("-")[0]], draft, idempotency_key=key)
                assert (again.replayed, again.decision_id, again.tick) == (True, learned.decision_id, learned.tick)
            for key in before.done:
                assert memory.actions.begin(asker, key, "reboot it").outcome.value == "done"
            action = memory.actions.action(curator, before.under_way.action.action_id)
            assert (action.state.value, action.doubt) == ("in_doubt", Doubt.RESTORED)
            assert memory.actions.begin(curator, "pay:1", "pay the bill").outcome.value == "in_doubt"
            fresh = memory.learn(asker, Draft(text="The restored tribe learns on", situation="after a restore", source=SEEN))
            assert fresh.tick > stepped.tick


def _writers(url: str, tribal: Tribal) -> list[Any]:
    """Returns the writers as the restored memory knows them, by tokens made there."""
    with (
        open_operator(backups.moved(tribal, url), adapters=tribal.adapters) as operator,
        backups.memory_at(tribal, url) as memory,
    ):
        return [memory.authenticate(operator.rotate(tribal.name, f"writer-{number}").secret) for number in range(2)]


def test_every_way_back_gives_the_same_rows_guards_answers_and_receipts() -> None:
    lines, _ = drill(lessons=10, ways=("custom", "export"))
    assert [one for one in lines if not one.same] == []
    assert {one.what for one in lines} >= {"guards: triggers", "rows: lesson_vector", "rows: signing_key", "receipts: agrees"}


def test_a_restore_that_lost_one_row_one_vector_or_one_key_is_found() -> None:
    """The control: takes one row of each out of what was restored."""

    def tamper(url: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            for table, which in (
                ("idempotency", "ctid = (SELECT min(ctid) FROM tributary.idempotency)"),
                ("lesson_vector", "ctid = (SELECT min(ctid) FROM tributary.lesson_vector)"),
                ("signing_key", "true"),
            ):
                assert connection.execute(f"DELETE FROM tributary.{table} WHERE {which}".encode()).rowcount == 1
            connection.execute("INSERT INTO tributary.signing_key (key_id, secret) VALUES ('k1', sha256('another'))")
            connection.execute("DROP TRIGGER IF EXISTS nothing ON tributary.lesson")
            connection.execute("ALTER TABLE tributary.rival DROP CONSTRAINT rival_not_both")

    lines, _ = drill(lessons=1, ways=("custom",), tamper=tamper)
    wrong = {one.what for one in lines if not one.same}
    assert wrong >= {"guards: constraints", "rows: idempotency", "rows: lesson_vector", "rows: signing_key", "receipts: agrees"}
    assert not wrong & {"rows: lesson", "rows: token", "guards: functions"}


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that the server's own account comes into too: pytest's folders are its user's alone."""
    with tempfile.TemporaryDirectory(prefix="tributary-page-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def test_a_home_is_dumped_and_restored_into_another_by_the_commands_of_the_page(reachable: Path) -> None:
    """As docs/backup.md has a laptop do it, with the programs that come along."""
    page = (Path(__file__).parents[2] / "docs/backup.md").read_text(encoding="utf-8")
    dumped, loaded = (
        [line for line in block.splitlines() if line.startswith(("tributary ", "export "))]
        for block in re.findall(r"```sh\n# laptop: .*?\n(.*?)```", page, flags=re.DOTALL)
    )
    environment = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
        "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
        "HOME": str(reachable),
        "TRIBUTARY_HOME": str(reachable / "first"),
    }
    command = f"{sys.executable} -c 'from tributary.edges.cli import main; main()'"
    made = ["tributary migrate", "tributary tribe create payments", *dumped, *loaded, "tributary tribe list --json"]
    script = "\n".join(re.sub("^tributary ", f"{command} ", line) for line in made)
    done = subprocess.run(
        ["bash", "-euc", script], cwd=reachable, env=environment, capture_output=True, text=True, check=False, timeout=90
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])[0]["name"] == "payments"
    assert "payments: restored as of tick 0, goes on from tick 1000002" in done.stdout
