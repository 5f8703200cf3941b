"""Whoever settles is told once of a request that left something pending, and of no other; nobody's reply depends on it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.notices import Noted
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal
from tributary.core.curation import Ending, RetireCause
from tributary.core.decision import Learned, Outcome, VerdictKind
from tributary.core.lesson import CounterClaim, Draft
from tributary.telemetry import Metric, metrics

UNRELATED = VerdictKind.UNRELATED


@dataclass(frozen=True, kw_only=True)
class Told:
    tribal: Tribal
    judge: RuledJudge
    screen: WordScreen
    notice: Noted
    first: Principal
    second: Principal

    def disputed(self, subject: str = "port") -> tuple[UUID, Learned]:
        """Has a lesson believed and another one disputed; returns the believed one, and the reply to the other."""
        believed = lesson_id(self.tribal.learn(self.first, "it is 80", subject=subject))
        contender = self.tribal.learn(self.second, "it is 81", subject=subject)
        assert contender.outcome is Outcome.DISPUTED
        assert self.notice.taken() == 0
        return believed, contender


@pytest.fixture
def told(database_url: str) -> Iterator[Told]:
    judge, screen, notice = RuledJudge(within_a_subject), WordScreen(), Noted()
    with open_tribal(database_url, judge=judge, screen=screen, notice=notice) as tribal:
        yield Told(
            tribal=tribal,
            judge=judge,
            screen=screen,
            notice=notice,
            first=tribal.agent("first"),
            second=tribal.agent("second"),
        )


def lesson_id(learned: Learned) -> UUID:
    assert learned.lesson is not None
    return learned.lesson.lesson_id


def draft(text: str, subject: str = "port") -> Draft:
    return Draft(text=text, situation="operating the service", source=SEEN, subject=subject)


def test_learn_that_was_judged_in_time_tells_nobody(told: Told) -> None:
    told.tribal.learn(told.first, "it is 80", subject="port")
    assert told.notice.told == []


def test_learn_past_its_deadline_tells_of_its_tribe(told: Told) -> None:
    told.tribal.learn(told.first, "it is 80", subject="port")
    told.judge.delay_s = 0.1
    late = told.tribal.memory.learn(told.second, draft("it is 81"), deadline_s=0.05, idempotency_key="late")
    assert late.outcome is Outcome.PENDING
    assert told.notice.told == [told.tribal.tribe_id]
    # whoever lost the first reply may have lost the notice with it
    assert told.tribal.memory.learn(told.second, draft("it is 81"), deadline_s=0.05, idempotency_key="late").replayed
    assert told.notice.taken() == 2


def test_learn_that_does_not_wait_tells(told: Told) -> None:
    told.tribal.memory.learn(told.first, draft("it is 80"), wait=False)
    assert told.notice.taken() == 1


def test_batch_tells_once_however_many_of_its_lessons_are_pending(told: Told) -> None:
    told.tribal.memory.learn_all(told.first, [draft(f"it is {n}", f"port-{n}") for n in range(5)], wait=False)
    assert told.notice.taken() == 1
    told.tribal.memory.learn_all(told.first, [draft("is up", "host")])
    assert told.notice.taken() == 0


def test_contest_past_its_deadline_tells(told: Told) -> None:
    known = lesson_id(told.tribal.learn(told.first, "it is 80", subject="port"))
    told.tribal.learn(told.first, "it is up", subject="host")
    told.judge.delay_s = 0.1
    claim = CounterClaim(text="it is 81", source=SEEN)
    contested = told.tribal.memory.contest(told.second, known, claim, deadline_s=0.05)
    assert contested.outcome is Outcome.PENDING
    assert told.notice.taken() == 1


def test_release_past_its_deadline_tells(told: Told) -> None:
    told.tribal.learn(told.first, "it is 80", subject="port")
    held = lesson_id(told.tribal.learn(told.second, "HIJACK it is 81", subject="port"))
    told.judge.delay_s = 0.1
    assert told.tribal.memory.curate.release(told.tribal.curator, held, deadline_s=0.05).outcome is Outcome.PENDING
    assert told.notice.taken() == 1


def test_lesson_that_the_gardener_releases_past_its_time_is_told_of(told: Told) -> None:
    told.screen.fails = True
    told.tribal.learn(told.second, "it is 81", subject="port")
    told.screen.fails = False
    told.tribal.learn(told.first, "it is 80", subject="port")
    told.judge.delay_s = 0.6
    told.tribal.memory.gardener.run(told.tribal.tribe_id, budget_s=0.5)
    assert told.tribal.status_counts() == {"active": 1, "pending": 1}
    assert told.notice.taken() == 1


def test_retire_that_lets_a_contender_go_tells(told: Told) -> None:
    believed, _ = told.disputed()
    told.tribal.memory.curate.retire(told.first, believed, RetireCause.OUTDATED)
    assert told.notice.taken() == 1
    alone = lesson_id(told.tribal.learn(told.first, "is up", subject="host"))
    told.tribal.memory.curate.retire(told.first, alone, RetireCause.OUTDATED)
    assert told.notice.taken() == 0


def test_erase_that_lets_a_contender_go_tells(told: Told) -> None:
    believed, _ = told.disputed()
    told.tribal.memory.curate.erase(told.tribal.curator, believed)
    assert told.notice.taken() == 1


def test_resolving_tells_only_when_it_lets_another_contender_go(told: Told) -> None:
    _, contender = told.disputed()
    assert contender.dispute_id is not None
    told.tribal.memory.curate.resolve(told.tribal.curator, contender.dispute_id, Ending.REJECTED, rationale="80 was measured")
    assert told.notice.taken() == 0


def test_superseding_what_alone_spoke_against_a_contender_tells(told: Told) -> None:
    told.disputed()
    told.judge.rule = lambda new, old: within_a_subject(new, old) if "80" in new.text and "80" in old.text else UNRELATED
    assert told.tribal.learn(told.first, "it is 80 at night", subject="port").outcome is Outcome.SUPERSEDED
    assert told.tribal.status_counts()["pending"] == 1
    assert told.notice.taken() == 1


def test_notice_that_fails_is_logged_and_counted_and_fails_nobody(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    told.notice.fails = RuntimeError("the queue is away")
    with caplog.at_level(logging.WARNING, "tributary"), metrics.tallied() as tally:
        assert told.tribal.memory.learn(told.first, draft("it is 80"), wait=False).outcome is Outcome.PENDING
    (line,) = [one for one in caplog.records if one.getMessage() == "notice.failed"]
    assert vars(line)["fields"] == {"tribe": str(told.tribal.tribe_id), "error": "RuntimeError"}
    counted = [one.metric for one in tally.measures]
    assert Metric.PENDING_NOTICES_FAILED in counted
    assert Metric.PENDING_NOTICES not in counted
