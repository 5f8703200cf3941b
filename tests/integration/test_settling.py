"""Settling what is pending: whatever cannot be settled now stays pending, and keeps nothing else waiting."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import LiteralString, cast
from uuid import UUID

import psycopg
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated
from tests.gardens import garden
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import InvalidRequest, Unavailable
from tributary.core.garden import Rule
from tributary.core.lesson import Draft
from tributary.core.ports import JudgedText
from tributary.learn import Settled
from tributary.learn.settling import PAGE
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory, open_operator, settling
from tributary.service.memory import TURN_S
from tributary.store import Database, statement

MANY = PAGE + 3
STUCK = "STUCK"
OTHER = UUID(int=1)
CONFLICTS, UNRELATED = VerdictKind.CONFLICTS, VerdictKind.UNRELATED


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A tribe that keeps lessons as pending; the embedder fails for those that are stuck, while it is told to."""

    tribal: Tribal
    judge: RuledJudge
    embedder: SwitchedEmbedder

    def keep(self, text: str, *, subject: str | None = None) -> None:
        draft = Draft(text=text, situation="operating the service", source=SEEN, subject=subject)
        assert self.tribal.memory.learn(self.tribal.curator, draft, wait=False).outcome is Outcome.PENDING

    def hold(self, until: str) -> None:
        """Has another settler hold the turn until so long from now."""
        self.tribal.rows(
            f"INSERT INTO tributary.settling_turn VALUES (%s, %s, clock_timestamp() + {until})"
            " ON CONFLICT (tribe_id) DO UPDATE SET holder = excluded.holder, until = excluded.until",
            self.tribal.tribe_id,
            OTHER,
        )

    def turns(self) -> list[dict[str, object]]:
        return self.tribal.rows("SELECT holder FROM tributary.settling_turn")

    def pending(self) -> set[str]:
        return {str(row["text"]) for row in self.tribal.rows("SELECT text FROM tributary.lesson WHERE status = 'pending'")}


def test_a_deadline_that_is_no_number_is_refused(tribal: Tribal) -> None:
    with pytest.raises(InvalidRequest, match="deadline_s"):
        tribal.memory.settle(tribal.tribe_id, deadline_s=math.nan)
    with pytest.raises(InvalidRequest, match="budget_s"):
        tribal.memory.gardener.run_all(budget_s=math.nan)
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator, pytest.raises(InvalidRequest, match="budget_s"):
        operator.build_indexes(budget_s=math.nan)


@pytest.fixture
def kept(database_url: str) -> Iterator[Kept]:
    judge, embedder = RuledJudge(all_unrelated), SwitchedEmbedder(HashedEmbedder(), word=STUCK)
    with open_tribal(database_url, judge=judge, embedder=embedder) as tribal:
        yield Kept(tribal=tribal, judge=judge, embedder=embedder)


def test_more_stuck_lessons_than_a_page_keep_no_later_one_waiting(kept: Kept) -> None:
    for number in range(MANY):
        kept.keep(f"{STUCK} {number}")
    kept.keep("fine")
    kept.embedder.fails = True
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60)
    assert (settled.done, settled.failed, settled.cut_short, settled.none_left) == (1, MANY, False, False)
    assert len(kept.pending()) == MANY
    kept.embedder.fails = False
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60)
    assert (settled.done, settled.none_left, kept.pending()) == (MANY, True, set())


def test_what_failed_before_in_this_process_is_tried_last(kept: Kept) -> None:
    kept.keep(f"{STUCK} first")
    kept.embedder.fails = True
    assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).failed == 1
    kept.embedder.fails = False
    kept.keep("second")
    learner = kept.tribal.memory.learner
    begun = 0

    def after_one() -> bool:
        nonlocal begun
        begun += 1
        return begun > 1

    settled = learner.settle(kept.tribal.tribe_id, stopped=after_one)
    assert (settled.done, settled.cut_short) == (1, True)
    assert kept.pending() == {f"{STUCK} first"}


def test_lesson_that_no_judge_answers_about_in_time_stays_pending_and_is_settled_later(kept: Kept) -> None:
    kept.tribal.learn(kept.tribal.curator, "known", subject="deploy-api")
    kept.keep("late", subject="deploy-api")
    kept.judge.delay_s = 1.4
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=1.2)
    assert (settled.done, settled.failed, settled.none_left) == (0, 1, False)
    kept.judge.delay_s = 0
    # were it kept as pending once more, the key under which it is settled would be spent, and it would stay for good
    assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).done == 1
    assert kept.pending() == set()


def test_without_time_nothing_is_begun(kept: Kept) -> None:
    kept.keep("fine")
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=0.01)
    assert (settled.done, settled.cut_short, settled.none_left) == (0, True, False)
    assert kept.judge.asked == []


def test_an_error_that_nobody_foresaw_keeps_no_other_lesson_waiting(kept: Kept) -> None:
    kept.tribal.learn(kept.tribal.curator, "known", subject="deploy-api")
    kept.keep("broken")
    kept.keep("fine")
    # an author's role that is none: reading it fails as no error of ours
    kept.tribal.rows("ALTER TABLE tributary.lesson DROP CONSTRAINT IF EXISTS lesson_admitted_as_check")
    kept.tribal.rows("UPDATE tributary.lesson SET admitted_as = 'nobody' WHERE text = 'broken'")
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60)
    assert (settled.done, settled.failed) == (1, 1)
    assert kept.pending() == {"broken"}


def test_what_a_settled_lesson_lets_go_of_is_settled_in_the_same_run(kept: Kept) -> None:
    opposite = ({"it is 80", "it is 81"}, {"it is 80", "it is 80 at night"})
    kept.judge.rule = lambda new, old: CONFLICTS if {new.text, old.text} in opposite else UNRELATED
    owner = kept.tribal.agent("owner")
    kept.tribal.learn(owner, "it is 80", subject="port")
    assert kept.tribal.learn(kept.tribal.agent("other"), "it is 81", subject="port").outcome is Outcome.DISPUTED
    draft = Draft(text="it is 80 at night", situation="operating the service", source=SEEN, subject="port")
    kept.tribal.memory.learn(owner, draft, wait=False)
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60)
    assert (settled.done, settled.none_left) == (2, True)
    assert kept.tribal.status_counts() == {"active": 2, "superseded": 1}


def test_a_database_that_is_lost_at_a_lesson_is_not_waited_for_at_each_other_one(kept: Kept) -> None:
    for number in range(3):
        kept.keep(f"{STUCK} {number}")
    kept.embedder.fails = True
    kept.embedder.error = Unavailable
    with pytest.raises(Unavailable):
        kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60)
    assert kept.embedder.failed == 1


def test_a_lost_database_ends_the_settling(kept: Kept) -> None:
    nowhere = Settings.model_validate({"TRIBUTARY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
    with open_memory(nowhere, adapters=kept.tribal.adapters) as memory, pytest.raises(Unavailable):
        memory.settle(kept.tribal.tribe_id, deadline_s=60)


def test_settlers_of_one_tribe_at_once_ask_the_judge_about_each_pair_once(kept: Kept) -> None:
    for number in range(4):
        kept.tribal.learn(kept.tribal.curator, f"known {number}", subject=f"part {number}")
        kept.keep(f"new {number}", subject=f"part {number}")
    kept.judge.asked.clear()
    found: list[Settled] = []
    others = 2

    def beside() -> None:
        kept.judge.before = None
        found.extend(kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60) for _ in range(others))
        report = garden(kept.tribal).rule(Rule.SETTLE)
        assert (report.done, report.left) == (0, 4)
        assert kept.tribal.memory.settle_pending() == 0

    kept.judge.before = beside
    assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60) == Settled(done=4, failed=0, cut_short=False)
    assert found == [Settled(done=0, failed=0, cut_short=False, taken=True)] * others
    assert not any(one.none_left for one in found)
    assert len(kept.judge.asked) == 4
    assert kept.turns() == []


def test_tribes_are_settled_at_once_each_by_its_own(kept: Kept) -> None:
    kept.tribal.learn(kept.tribal.curator, "known", subject="port")
    kept.keep("new", subject="port")
    with open_tribal(kept.tribal.url, name="other", judge=kept.judge) as other:
        other.memory.learn(other.curator, Draft(text="fine", situation="operating", source=SEEN), wait=False)
        done: list[int] = []

        def beside() -> None:
            kept.judge.before = None
            done.append(other.memory.settle(other.tribe_id, deadline_s=60).done)

        kept.judge.before = beside
        assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).done == 1
        assert done == [1]


def test_a_settler_that_died_delays_the_next_one_by_its_turn_alone(kept: Kept) -> None:
    kept.keep("fine")
    kept.hold("interval '10 minutes'")
    assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).taken
    kept.hold("interval '-1 second'")
    assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).done == 1


def test_a_settler_whose_turn_another_took_begins_no_further_lesson_and_leaves_the_turn_to_it(kept: Kept) -> None:
    kept.tribal.learn(kept.tribal.curator, "known", subject="port")
    kept.keep("first", subject="port")
    kept.keep("second", subject="port")

    def taken() -> None:
        kept.judge.before = None
        time.sleep(1.6)  # more than half of the turn, after which it is looked at, with time enough for one more lesson
        kept.hold("interval '10 minutes'")

    kept.judge.before = taken
    settled = kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=3)
    assert (settled.done, settled.cut_short) == (1, True)
    assert kept.pending() == {"second"}
    assert kept.turns() == [{"holder": OTHER}]


@dataclass
class Interrupted:
    """A database; `then` is done once, before a turn is ended in it."""

    database: Database
    then: Callable[[], None] | None

    def value(self, query: LiteralString, parameters: Mapping[str, object]) -> object:
        if query == statement("learn", "end_turn") and self.then is not None:
            then, self.then = self.then, None
            then()
        return self.database.value(query, parameters)


def test_a_lesson_that_comes_while_a_turn_is_about_to_end_is_settled_by_whoever_has_it(kept: Kept) -> None:
    def late() -> None:
        kept.keep("late")
        assert kept.tribal.memory.settle(kept.tribal.tribe_id, deadline_s=60).taken

    learner = kept.tribal.memory.learner
    kept.keep("first")
    settled = replace(learner, database=cast(Database, Interrupted(learner.database, late))).settle(kept.tribal.tribe_id)
    assert (settled.done, settled.none_left, kept.pending()) == (2, True, set())


def test_rivals_are_looked_up_one_by_one_though_no_statistics_were_ever_taken(kept: Kept) -> None:
    lessons = 300
    for first in range(0, lessons, 100):
        drafts = [
            Draft(text=f"it is {number}", situation="operating", source=SEEN, subject=f"part {number % 5}")
            for number in range(first, first + 100)
        ]
        kept.tribal.memory.learn_all(kept.tribal.curator, drafts, wait=False)
    kept.tribal.rows("DELETE FROM pg_statistic WHERE starelid = 'tributary.lesson'::regclass")
    kept.tribal.rows("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'tributary.lesson'::regclass")
    (one, *others) = [row["lesson_id"] for row in kept.tribal.rows("SELECT lesson_id FROM tributary.lesson ORDER BY 1 LIMIT 61")]
    with psycopg.connect(kept.tribal.url) as connection:
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")  # as the commit has it
        connection.execute("SELECT tributary.make_rivals_v1(%s, %s, %s, 1)", (kept.tribal.tribe_id, one, others))
        read = connection.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'tributary.lesson'::regclass"
        ).fetchone()
        connection.rollback()
    assert read is not None
    # a lookup of each of the two lessons and one by each of their foreign keys: none of all lessons with all others
    assert 4 * len(others) <= read[0] <= 4 * len(others) * lessons


def test_whoever_ends_the_worker_waits_for_the_lesson_that_was_begun_and_for_no_other(kept: Kept) -> None:
    kept.tribal.learn(kept.tribal.curator, "the base", subject="deploying")
    for number in range(4):
        kept.keep(f"fact {number}", subject="deploying")
    begun, ending = threading.Event(), threading.Event()

    def judged() -> None:
        begun.set()
        ending.wait(30)
        time.sleep(0.3)

    kept.judge.before = judged
    with settling(kept.tribal.memory, every_s=0.01):
        assert begun.wait(30)
        ending.set()
    assert len(kept.pending()) == 3


def test_a_tribe_with_much_to_settle_lets_another_one_go_before_it_is_done(database_url: str) -> None:
    judged: list[str] = []

    def slowly(new: JudgedText, _old: JudgedText) -> VerdictKind:
        judged.append(new.text[0])
        if len(set(judged)) == 1:  # as long as the other tribe waits
            time.sleep(TURN_S / 2 + 0.1)
        return UNRELATED

    judge = RuledJudge(slowly)
    with open_tribal(database_url, name="a", judge=judge) as a, open_tribal(database_url, name="b", judge=judge) as b:
        kept = [Kept(tribal=one, judge=judge, embedder=SwitchedEmbedder(HashedEmbedder(), word=STUCK)) for one in (a, b)]
        for one in kept:
            one.tribal.learn(one.tribal.curator, "the base", subject="deploying")
            for number in range(3):
                one.keep(f"{one.tribal.name} is fact {number}", subject="deploying")
        judged.clear()
        assert a.memory.settle_pending() == 6
        first, second = judged[0], ({"a", "b"} - {judged[0]}).pop()
        assert judged.index(second) < len(judged) - 1 - judged[::-1].index(first)
        assert [one.pending() for one in kept] == [set(), set()]


def test_whoever_goes_on_settling_later_tries_nothing_twice(kept: Kept) -> None:
    kept.keep(f"{STUCK} in the mud")
    kept.embedder.fails = True
    tried: set[tuple[UUID, int]] = set()
    failed = [kept.tribal.memory.learner.settle(kept.tribal.tribe_id, tried=tried).failed for _ in range(2)]
    assert failed == [1, 0]
