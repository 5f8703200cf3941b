"""Settling what is pending: whatever cannot be settled now stays pending, and keeps nothing else waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import Unavailable
from tributary.core.lesson import Draft
from tributary.core.ports import JudgedText
from tributary.learn.settling import PAGE
from tributary.models.embedders import HashedEmbedder
from tributary.service import Settings, open_memory, settling
from tributary.service.memory import TURN_S

MANY = PAGE + 3
STUCK = "STUCK"
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

    def pending(self) -> set[str]:
        return {str(row["text"]) for row in self.tribal.rows("SELECT text FROM tributary.lesson WHERE status = 'pending'")}


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
