"""Agents that learn at the same instant. The controls show that the gate and the delta check are what keeps them apart."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg
import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.material import compatible, contradicting
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import Learned, Outcome, VerdictKind
from tributary.core.lesson import Draft, Status
from tributary.core.ports import JudgedText

WRITERS = 8
ROUNDS = 50
Result = TypeVar("Result")


def at_once(calls: list[Callable[[], Result]]) -> list[Result]:
    """Runs the calls in threads that start together, and returns their results in order."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        barrier.wait(30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def curators(tribal: Tribal) -> list[Principal]:
    return [tribal.agent(f"curator-{index}", Role.CURATOR) for index in range(WRITERS)]


def _learn_all(tribal: Tribal, agents: list[Principal], texts: list[tuple[str, str]], subject: str | None) -> list[Learned]:
    def call(agent: Principal, situation: str, text: str) -> Callable[[], Learned]:
        draft = Draft(text=text, situation=situation, source=SEEN, subject=subject)
        return lambda: tribal.memory.learn(agent, draft)

    return at_once([call(agent, *text) for agent, text in zip(agents, texts, strict=True)])


def test_contradicting_curators_leave_exactly_one_believed_and_lose_nothing(tribal: Tribal) -> None:
    agents = curators(tribal)
    for number in range(ROUNDS):
        subject = f"service-{number}"
        results = _learn_all(tribal, agents, contradicting(subject, WRITERS), subject)
        assert {one.outcome for one in results} <= {Outcome.LEARNED, Outcome.SUPERSEDED}
        assert len({one.lesson.lesson_id for one in results if one.lesson}) == WRITERS
        standing = [tribal.memory.lesson(tribal.curator, one.lesson.lesson_id).lesson.status for one in results if one.lesson]
        assert sorted(standing) == [Status.ACTIVE, *[Status.SUPERSEDED] * (WRITERS - 1)]


def test_compatible_lessons_on_one_subject_are_all_believed(tribal: Tribal) -> None:
    agents = curators(tribal)
    for number in range(ROUNDS):
        subject = f"service-{number}"
        results = _learn_all(tribal, agents, compatible(subject, WRITERS), subject)
        assert {one.outcome for one in results} == {Outcome.LEARNED}
    assert tribal.status_counts() == {"active": ROUNDS * WRITERS}


def test_equal_lessons_learned_at_once_become_one(tribal: Tribal) -> None:
    agents = curators(tribal)
    for number in range(10):
        results = _learn_all(tribal, agents, [("deploying", f"service {number} needs a warm cache")] * WRITERS, None)
        assert len({one.lesson.lesson_id for one in results if one.lesson}) == 1
        assert sorted(one.outcome for one in results) == [Outcome.LEARNED, *[Outcome.REINFORCED] * (WRITERS - 1)]


def test_equal_keys_sent_at_once_execute_once_and_all_get_its_reply(tribal: Tribal) -> None:
    draft = Draft(text="the cache must be warm", situation="deploying", source=SEEN)
    results = at_once([lambda: tribal.memory.learn(tribal.curator, draft, idempotency_key="k")] * WRITERS)
    assert len({one.decision_id for one in results}) == 1
    assert sum(not one.replayed for one in results) == 1
    assert len(tribal.rows("SELECT * FROM tributary.lesson_event")) == 1


def test_ticks_are_gapless_and_every_tick_has_its_events(tribal: Tribal) -> None:
    agents = curators(tribal)
    for number in range(5):
        _learn_all(tribal, agents, contradicting(f"s{number}", WRITERS), f"s{number}")
    ticks = [row["tick"] for row in tribal.rows("SELECT DISTINCT tick FROM tributary.lesson_event ORDER BY tick")]
    clock = tribal.rows("SELECT clock FROM tributary.tribe")[0]["clock"]
    assert ticks == list(range(1, int(str(clock)) + 1))
    late = tribal.rows(
        "SELECT count(*) AS n FROM tributary.lesson_event a JOIN tributary.lesson_event b ON a.tick < b.tick AND a.at >= b.at"
    )
    assert late == [{"n": 0}]


class Meeting:
    """Lets the first two judges of a round wait for each other: both have read their candidates, neither has committed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        self._expected = 2
        self._barrier = threading.Barrier(2)

    def __call__(self) -> None:
        with self._lock:
            if self._expected == 0:
                return
            self._expected -= 1
        self._barrier.wait(30)


def _believed_after_meetings(url: str, rounds: int) -> int:
    """Has two curators contradict each other in each round, both judging before either commits; returns how many are believed."""

    def rule(new: JudgedText, old: JudgedText) -> VerdictKind:
        apart = old.subject != new.subject or old.text == "known before"
        return VerdictKind.UNRELATED if apart else VerdictKind.CONFLICTS

    meeting = Meeting()
    judge = RuledJudge(rule)
    with open_tribal(url, judge=judge) as tribal:
        agents = [tribal.agent(f"curator-{index}", Role.CURATOR) for index in range(2)]
        for number in range(rounds):
            judge.before = None
            subject = f"s{number}"
            tribal.learn(tribal.curator, "known before", subject=subject, situation=subject)
            meeting.begin()
            judge.before = meeting
            _learn_all(tribal, agents, contradicting(subject, 2), subject)
        return tribal.status_counts()["active"] - rounds


def test_curators_who_judged_before_either_committed_leave_one_believed(database_url: str) -> None:
    assert _believed_after_meetings(database_url, 20) == 20


@pytest.mark.parametrize("removed", ["gate", "delta"])
def test_without_the_gate_or_the_delta_contradictions_stay_believed(database_url: str, removed: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        if removed == "gate":
            source = connection.execute("SELECT pg_get_functiondef('tributary.gate_v1'::regproc)").fetchone()
            assert source is not None
            connection.execute(source[0].replace("FOR NO KEY UPDATE", "").encode())
        else:
            connection.execute(
                """CREATE OR REPLACE FUNCTION tributary.learn_delta_v1(
                       p jsonb, p_clock bigint, OUT changed bigint, OUT fresh bigint)
                   LANGUAGE sql AS 'SELECT 0::bigint, 0::bigint'"""
            )
    assert _believed_after_meetings(database_url, 20) > 20


def test_a_writer_that_was_judged_against_an_older_state_judges_only_the_new_pair(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "alpha", subject="matter")
        other = tribal.agent("other")
        intruded: list[bool] = []

        def intrude() -> None:
            if not intruded:
                intruded.append(True)
                tribal.learn(other, "intruder", subject="matter")

        judge.asked.clear()
        judge.before = intrude
        tribal.learn(tribal.curator, "beta", subject="matter")
        # alpha for beta, alpha for the intruder, then for beta the intruder alone
        assert judge.asked == [1, 1, 1]
        replans = tribal.rows("SELECT replans FROM tributary.decision ORDER BY tick DESC LIMIT 1")
        assert replans == [{"replans": 1}]


def test_a_write_that_does_not_matter_costs_no_replan(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        for number in range(12):
            tribal.learn(tribal.curator, f"filler {number} xyzzy{number}", situation=f"place{number}")
        other = tribal.agent("other")

        def intrude() -> None:
            judge.before = None
            tribal.learn(other, "zebra quagga", situation="savanna")

        judge.before = intrude
        tribal.learn(tribal.curator, "filler 3 again xyzzy3", situation="place3")
        replans = tribal.rows("SELECT max(replans) AS most FROM tributary.decision")
        assert replans == [{"most": 0}]
