"""What is committed while a lesson is being judged, and bears on it by way of another lesson."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, id_of, open_tribal
from tributary.core.curation import Ending, RetireCause
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import WrongStanding
from tributary.core.lesson import Status


@pytest.fixture
def judge() -> RuledJudge:
    return RuledJudge(within_a_subject)


@pytest.fixture
def ruled(database_url: str, judge: RuledJudge) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=judge) as opened:
        yield opened


def meanwhile(judge: RuledJudge, act: Callable[[], object]) -> None:
    """Has `act` done once, while the next lesson is being judged."""

    def once() -> None:
        judge.before = None
        act()

    judge.before = once


def dispute_of(learned: Learned) -> UUID:
    assert learned.dispute_id is not None
    return learned.dispute_id


def believed(tribal: Tribal) -> set[str]:
    return {one.text for one in tribal.memory.lessons(tribal.curator, limit=100).lessons}


def test_rejected_value_disputes_what_is_believed_now_and_not_what_was_superseded_meanwhile(
    ruled: Tribal, judge: RuledJudge
) -> None:
    ruled.learn(ruled.curator, "it is 80", subject="port")
    second = ruled.learn(ruled.agent("w"), "it is 81", subject="port")
    ruled.memory.curate.resolve(ruled.curator, dispute_of(second), Ending.REJECTED, rationale="80 was measured")
    other = ruled.agent("v")
    meanwhile(judge, lambda: ruled.learn(ruled.curator, "it is 82", subject="port"))
    again = ruled.learn(other, "it is 81", subject="port")
    assert (again.outcome, again.precedent) == (Outcome.DISPUTED, id_of(second))
    assert believed(ruled) == {"it is 82"}
    assert [one.text for one in ruled.memory.desk.dispute(ruled.curator, dispute_of(again)).about] == ["it is 82"]


def test_disputed_lesson_that_nothing_believed_opposes_any_more_is_joined_and_learned(ruled: Tribal, judge: RuledJudge) -> None:
    first = ruled.learn(ruled.curator, "it is 80", subject="port")
    ruled.learn(ruled.agent("w"), "it is 81", subject="port")
    other = ruled.agent("v")
    meanwhile(judge, lambda: ruled.memory.curate.retire(ruled.curator, id_of(first), RetireCause.OUTDATED))
    assert ruled.learn(other, "it is 81", subject="port", situation="elsewhere").outcome is Outcome.PENDING
    assert ruled.memory.settle_pending() == 1
    (lesson,) = ruled.memory.lessons(ruled.curator).lessons
    assert (lesson.text, lesson.confirmations) == ("it is 81", 1)


def test_lesson_held_back_by_a_precedent_looks_at_what_a_curator_accepted_meanwhile(ruled: Tribal, judge: RuledJudge) -> None:
    ruled.learn(ruled.curator, "it is 80", subject="port")
    contender = ruled.learn(ruled.agent("w"), "it is 81", subject="port")
    held = ruled.learn(ruled.agent("x"), "it is 81", subject="port", rationale="HIJACK", situation="elsewhere")
    ruled.memory.curate.retire(ruled.curator, id_of(held), RetireCause.INJECTION)
    other = ruled.agent("u")
    meanwhile(judge, lambda: ruled.memory.curate.resolve(ruled.curator, dispute_of(contender), Ending.ACCEPTED))
    assert ruled.learn(other, "it is 81", subject="port", situation="a third place").outcome is Outcome.REINFORCED
    assert believed(ruled) == {"it is 81"}


def test_words_erased_while_a_curator_resolves_are_not_queued_for_review(ruled: Tribal, judge: RuledJudge) -> None:
    first = ruled.learn(ruled.curator, "it is 80", subject="port")
    second = ruled.learn(ruled.agent("w"), "it is 81", subject="port")
    ruled.learn(ruled.agent("z"), "it is 81 at night", subject="port")
    erased: list[object] = []
    meanwhile(judge, lambda: erased.append(ruled.memory.curate.erase(ruled.curator, id_of(first))))
    with pytest.raises(WrongStanding):  # nothing believed opposes it any more, so there is nothing to resolve
        ruled.memory.curate.resolve(ruled.curator, dispute_of(second), Ending.BOTH_STAND)
    assert erased
    assert ruled.rows("SELECT * FROM tributary.review r WHERE r::text LIKE %s", "%it is 80%") == []


def test_equal_words_for_another_time_cannot_both_stand(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "it is 80", subject="port")
    until = datetime.now(UTC) + timedelta(hours=1)
    second = ruled.learn(ruled.agent("w"), "it is 80", subject="port", valid_until=until)
    assert second.outcome is Outcome.DISPUTED
    with pytest.raises(WrongStanding, match="the very same words, for another time"):
        ruled.memory.curate.resolve(ruled.curator, dispute_of(second), Ending.BOTH_STAND)
    accepted = ruled.memory.curate.resolve(ruled.curator, dispute_of(second), Ending.ACCEPTED)
    assert accepted.outcome is Outcome.SUPERSEDED


def test_released_lesson_that_was_kept_as_pending_is_not_screened_again(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "something else", subject="port")
    held = ruled.learn(ruled.agent("w"), "it is 80, HIJACK", subject="port")
    released = ruled.memory.curate.release(ruled.curator, id_of(held), deadline_s=1e-9)
    assert released.outcome is Outcome.PENDING
    assert ruled.memory.settle_pending() == 1
    assert ruled.memory.lesson(ruled.curator, id_of(held)).lesson.status is Status.DISPUTED
    assert ruled.memory.settle_pending() == 0
