"""What a hostile or unlucky agent tried: each was seen to work once, and must not again."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles import BrokenJudge, RuledJudge, all_unrelated, within_a_subject
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.coverage import Observed, coverage_of
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import Forbidden, NotComplete, NotFound
from tributary.core.lesson import Draft, Status
from tributary.core.receipt import Cause, Coverage, SearchPath


def _believed(tribal: Tribal, subject: str) -> list[object]:
    return [row["text"] for row in tribal.rows("SELECT text FROM tributary.lesson WHERE believed AND subject_key = %s", subject)]


def test_disputed_lessons_cannot_crowd_out_the_believed_one(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        honest, hostile = tribal.agent("honest"), tribal.agent("hostile")
        tribal.learn(honest, "listens at eighty", subject="p", situation="gateway")
        for number in range(9):
            tribal.learn(hostile, f"port number zeta {number}", situation="zeta config")
        outcomes = {
            tribal.learn(hostile, f"port number zeta is {number}", subject="p", situation="zeta config").outcome
            for number in range(40)
        }
        assert outcomes == {Outcome.DISPUTED}
        assert _believed(tribal, "p") == ["listens at eighty"]


@pytest.mark.parametrize("how", ["confidence", "expiry"])
def test_what_time_or_confidence_excludes_cannot_hide_a_match_behind_it(database_url: str, how: str) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    hidden = {"confidence": 0.3} if how == "confidence" else {"valid_until": soon}
    asked = {"min_confidence": 0.8} if how == "confidence" else {}
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        for number in range(60):
            tribal.learn(tribal.curator, f"restart payments queue {number}", situation="payments queue stuck", **hidden)
        tribal.learn(
            tribal.curator, "drain the payments queue slowly", situation="payments queue stuck on Monday", confidence=0.95
        )
        if how == "expiry":
            tribal.clock.advance(hours=2)
        found = tribal.recall("restart payments queue stuck", **asked)
        assert [hit.lesson.text for hit in found.hits] == ["drain the payments queue slowly"]
        assert found.receipt.coverage is Coverage.COMPLETE


def test_a_pool_that_stays_too_small_is_no_complete_search() -> None:
    coverage, causes = coverage_of(
        Observed(in_scope=9, with_vector=9, vector_path=SearchPath.VECTOR_EXACT, embedder_failed=False, pool_exhausted=True)
    )
    assert (coverage, causes) == (Coverage.PARTIAL, (Cause.POOL_EXHAUSTED,))


@pytest.mark.parametrize("judge", [BrokenJudge(), RuledJudge(lambda *_: VerdictKind.UNRELATED)])
def test_equal_words_are_the_same_whatever_the_judge_says(database_url: str, judge: BrokenJudge | RuledJudge) -> None:
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.agent("a"), "port is 1", subject="p")
        assert tribal.learn(tribal.agent("b"), "port  is 1", subject="p").outcome is Outcome.REINFORCED
        assert tribal.learn(tribal.agent("c"), "Port is 1", subject="p").outcome is Outcome.LEARNED


def test_a_disputed_lesson_is_believed_once_what_it_contradicted_is_gone(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        soon = datetime.now(UTC) + timedelta(seconds=2)  # a learn goes by the database's clock, which no test sets
        first, second, third = tribal.agent("a"), tribal.agent("b"), tribal.agent("c")
        tribal.learn(first, "port is 1", subject="p", valid_until=soon)
        assert tribal.learn(second, "port is 2", subject="p").outcome is Outcome.DISPUTED
        assert tribal.learn(third, "port is 2", subject="p").outcome is Outcome.DISPUTED
        time.sleep(max(0.0, (soon - datetime.now(UTC)).total_seconds()))
        believed = tribal.learn(third, "port is 2", subject="p")
        assert believed.outcome is Outcome.LEARNED
        assert _believed(tribal, "p") == ["port is 2"]
        assert tribal.rows("SELECT state FROM tributary.dispute") == [{"state": "settled"}]


def test_the_same_words_for_a_longer_time_replace_their_own_authors(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        soon = datetime.now(UTC) + timedelta(hours=1)
        author = tribal.agent("a")
        tribal.learn(author, "the freeze holds on prod", subject="fz", valid_until=soon)
        longer = tribal.learn(author, "the freeze holds on prod", subject="fz", valid_until=soon + timedelta(days=9))
        assert longer.outcome is Outcome.SUPERSEDED
        tribal.clock.advance(hours=2)
        assert len(tribal.recall("freeze on prod").hits) == 1


def test_terms_weigh_as_of_a_tick_what_they_weighed_then(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        long = "XK-771 " + " ".join(f"filler{number}" for number in range(300))
        tribal.learn(tribal.curator, long, situation="plumbing")
        then = tribal.recall("XK-771")
        for number in range(105):
            tribal.learn(tribal.curator, f"note {number} XK-771 blah", situation=f"unrelated {number}")
        again = tribal.recall("XK-771", as_of=then.receipt.searched[0].tick)
        assert [hit.lesson.lesson_id for hit in again.hits] == [hit.lesson.lesson_id for hit in then.hits]
        assert len(then.hits) == 1


def test_one_agent_counts_once_against_a_lesson_however_often_it_rewords(database_url: str) -> None:
    rule = RuledJudge(lambda new, old: VerdictKind.CONFLICTS if "old truth" in (new.text, old.text) else VerdictKind.UNRELATED)
    with open_tribal(database_url, judge=rule) as tribal:
        lesson = tribal.learn(tribal.agent("a"), "old truth", subject="p").lesson
        assert lesson is not None
        other = tribal.agent("b")
        for number in range(3):
            assert tribal.learn(other, f"wording {number}", subject="p").outcome is Outcome.DISPUTED
        shown = tribal.memory.lesson(tribal.curator, lesson.lesson_id)
        assert (shown.lesson.contradictions, len(shown.challenges)) == (1, 3)


def test_a_pending_lesson_never_becomes_believed_beside_an_earlier_rival(database_url: str) -> None:
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, judge=judge) as tribal:
        first, second = tribal.agent("a"), tribal.agent("b")
        tribal.learn(tribal.curator, "neighbour", situation="elsewhere")
        judge.delay_s = 0.1
        kept = tribal.memory.learn(
            first, Draft(text="port is 1", situation="operating the service", source=SEEN, subject="p"), deadline_s=0.01
        )
        assert kept.outcome is Outcome.PENDING
        judge.delay_s = 0
        tribal.learn(second, "port is 2", subject="p")
        judge.rule = all_unrelated  # the judge changed its mind
        assert tribal.memory.settle_pending() == 1
        assert tribal.status_counts() == {"active": 2, "disputed": 1}
        assert _believed(tribal, "p") == ["port is 2"]


def test_a_near_miss_keeps_anybody_from_claiming_that_there_is_nothing(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the blue rollout waits for a green light of the queue", situation="rolling out")
    found = tribal.recall("payments green zebra")
    assert found.hits == ()
    assert found.receipt.coverage is Coverage.COMPLETE
    with pytest.raises(NotComplete):
        found.receipt.assert_absence()


def test_quarantined_text_reaches_curators_and_its_author_alone(tribal: Tribal) -> None:
    author, reader = tribal.agent("author"), tribal.agent("reader", Role.READER)
    lesson = tribal.learn(author, "HIJACK the reader").lesson
    assert lesson is not None
    with pytest.raises(Forbidden):
        tribal.memory.lessons(reader, status=Status.QUARANTINED)
    assert tribal.memory.lessons(reader, status=None).lessons == ()
    with pytest.raises(NotFound):
        tribal.memory.lesson(reader, lesson.lesson_id)
    assert tribal.memory.lesson(author, lesson.lesson_id).lesson.status is Status.QUARANTINED
    assert len(tribal.memory.lessons(tribal.curator, status=Status.QUARANTINED).lessons) == 1
