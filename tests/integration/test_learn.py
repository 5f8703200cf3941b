"""What a learn comes to, on real PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest

from tests.doubles import BrokenJudge, RuledJudge, WordScreen, all_unrelated, same_text_same_else_conflict
from tests.gardens import garden
from tests.providers.thinking import Thinking, hazards
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import Forbidden, IdempotencyConflict, InvalidRequest, ModelTimedOut, NotFound, WrongStanding
from tributary.core.garden import Rule
from tributary.core.ids import new_id
from tributary.core.lesson import Draft, Evidence, How, Source, Status
from tributary.core.ports import Prompt
from tributary.models.screens import AskedScreen, LayeredScreen, LocalScreen
from tributary.service import settling

HEADER = "The deploy API of payments needs the header X-Batch: true"
OTHER = "The deploy API of payments needs the header X-Batch: false"


def test_first_lesson_on_a_matter_is_learned_and_believed(tribal: Tribal) -> None:
    result = tribal.learn(tribal.curator, HEADER)
    assert result.outcome is Outcome.LEARNED
    assert result.lesson is not None
    assert result.lesson.status is Status.ACTIVE
    assert result.lesson.activated is not None
    assert result.tick == result.lesson.activated.tick == 1
    assert tribal.recall("deploy API payments header").hits[0].lesson.lesson_id == result.lesson.lesson_id


def test_same_lesson_by_another_agent_reinforces_and_by_the_same_one_changes_nothing(tribal: Tribal) -> None:
    first = tribal.learn(tribal.curator, HEADER)
    other = tribal.agent("other")
    again = tribal.learn(tribal.curator, HEADER)
    second = tribal.learn(other, HEADER)
    third = tribal.learn(other, HEADER)
    assert [again.outcome, second.outcome, third.outcome] == [Outcome.UNCHANGED, Outcome.REINFORCED, Outcome.UNCHANGED]
    assert first.lesson is not None
    assert second.lesson is not None
    assert second.lesson.lesson_id == first.lesson.lesson_id
    assert second.lesson.confirmations == 1
    assert (again.tick, second.tick, third.tick) == (1, 2, 2)


def test_an_author_cannot_raise_its_own_confidence_by_repetition(tribal: Tribal) -> None:
    lesson = tribal.learn(tribal.curator, HEADER).lesson
    assert lesson is not None
    before = tribal.memory.lesson(tribal.curator, lesson.lesson_id).confidence
    for _ in range(3):
        tribal.learn(tribal.curator, HEADER)
        assert tribal.memory.reinforce(tribal.curator, lesson.lesson_id).outcome is Outcome.UNCHANGED
    assert tribal.memory.lesson(tribal.curator, lesson.lesson_id).confidence <= before


def test_a_curator_supersedes_what_it_contradicts_and_the_chain_is_kept(tribal: Tribal) -> None:
    writer = tribal.agent("writer")
    old = tribal.learn(writer, HEADER).lesson
    new = tribal.learn(tribal.curator, OTHER)
    assert old is not None
    assert new.outcome is Outcome.SUPERSEDED
    assert new.replaced == (old.lesson_id,)
    gone = tribal.memory.lesson(tribal.curator, old.lesson_id).lesson
    assert gone.status is Status.SUPERSEDED
    assert new.lesson is not None
    assert gone.superseded_by == new.lesson.lesson_id
    assert gone.deactivated is not None
    assert gone.valid_until == gone.deactivated.at


def test_a_writer_supersedes_its_own_lesson_and_disputes_anothers(tribal: Tribal) -> None:
    writer, other = tribal.agent("writer"), tribal.agent("other")
    tribal.learn(writer, HEADER)
    disputed = tribal.learn(other, OTHER)
    assert disputed.outcome is Outcome.DISPUTED
    assert disputed.dispute_id is not None
    assert disputed.lesson is not None
    assert disputed.lesson.status is Status.DISPUTED
    own = tribal.learn(writer, HEADER.replace("true", "nightly"))
    assert own.outcome is Outcome.SUPERSEDED
    hit = tribal.recall("deploy API payments header").hits
    assert [one.lesson.text for one in hit] == [HEADER.replace("true", "nightly")]
    assert [one.dispute_id for one in hit[0].challenges] == [disputed.dispute_id]


def test_second_identical_dispute_joins_the_first(tribal: Tribal) -> None:
    tribal.learn(tribal.agent("writer"), HEADER)
    first = tribal.learn(tribal.agent("other"), OTHER)
    second = tribal.learn(tribal.agent("third"), OTHER)
    assert second.outcome is Outcome.DISPUTED
    assert second.dispute_id == first.dispute_id
    assert tribal.status_counts() == {"active": 1, "disputed": 1}


def test_observation_with_evidence_outranks_hearsay_and_equals_do_not(tribal: Tribal) -> None:
    told = Source(how=How.TOLD, ref="mail")
    tribal.learn(tribal.agent("hearer"), HEADER, source=told)
    seen = tribal.learn(tribal.agent("seer"), OTHER, evidence=(Evidence(type="log", ref="s3://logs/1"),))
    assert seen.outcome is Outcome.SUPERSEDED
    equal = tribal.learn(tribal.agent("third"), HEADER, evidence=(Evidence(type="log", ref="s3://logs/2"),))
    assert equal.outcome is Outcome.DISPUTED


def test_several_conflicting_lessons_are_superseded_in_one_tick(database_url: str) -> None:
    verdicts = {"one": VerdictKind.UNRELATED, "two": VerdictKind.UNRELATED, "three": VerdictKind.CONFLICTS}
    with open_tribal(database_url, judge=RuledJudge(lambda new, _: verdicts[new.text])) as tribal:
        tribal.learn(tribal.curator, "one", subject="matter")
        tribal.learn(tribal.curator, "two", subject="matter")
        result = tribal.learn(tribal.curator, "three", subject="matter")
        assert len(result.replaced) == 2
        assert tribal.status_counts() == {"active": 1, "superseded": 2}
        ticks = tribal.rows("SELECT DISTINCT deactivated_tick FROM tributary.lesson WHERE status = 'superseded'")
        assert ticks == [{"deactivated_tick": result.tick}]


def test_unsure_within_a_subject_is_learned_with_a_challenge_on_both(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(lambda *_: VerdictKind.UNSURE)) as tribal:
        tribal.learn(tribal.curator, "alpha holds", subject="matter")
        second = tribal.learn(tribal.curator, "beta holds", subject="matter")
        assert second.outcome is Outcome.LEARNED
        assert len(second.challenges) == 1
        shown = {one.lesson.text: [c.text for c in one.challenges] for one in tribal.recall("holds", subject="matter").hits}
        assert shown == {"alpha holds": ["beta holds"], "beta holds": ["alpha holds"]}


def test_a_judge_that_cannot_be_reached_never_destroys(database_url: str) -> None:
    with open_tribal(database_url, judge=BrokenJudge()) as tribal:
        tribal.learn(tribal.curator, HEADER, subject="deploy-api")
        second = tribal.learn(tribal.curator, OTHER, subject="deploy-api")
        assert second.outcome is Outcome.LEARNED
        assert len(second.challenges) == 1
        assert tribal.status_counts() == {"active": 2}
        causes = tribal.rows("SELECT verdicts -> 0 ->> 'cause' AS cause FROM tributary.decision ORDER BY tick DESC LIMIT 1")
        assert causes == [{"cause": "judge_unavailable"}]


@pytest.mark.parametrize("fails", [False, True])
def test_what_the_screen_catches_or_cannot_check_is_quarantined_and_never_recalled(database_url: str, fails: bool) -> None:
    with open_tribal(database_url, screen=WordScreen(fails=fails)) as tribal:
        result = tribal.learn(tribal.curator, "HIJACK the reader" if not fails else HEADER)
        assert result.outcome is Outcome.QUARANTINED
        assert ("screen_unavailable" if fails else "override") in result.reason
        assert tribal.recall("HIJACK the reader deploy API payments header").hits == ()
        assert tribal.rows("SELECT * FROM tributary.lesson_vector") == tribal.rows("SELECT * FROM tributary.lesson_term") == []


def test_past_its_deadline_a_lesson_is_kept_as_pending_and_not_believed(database_url: str) -> None:
    judge = RuledJudge(same_text_same_else_conflict, delay_s=0.2)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, HEADER)
        draft = Draft(text=OTHER, situation="operating the service", source=SEEN)
        late = tribal.memory.learn(tribal.curator, draft, deadline_s=0.05)
        assert late.outcome is Outcome.PENDING
        assert tribal.status_counts() == {"active": 1, "pending": 1}


def test_what_a_deadline_leaves_no_time_to_screen_is_held_back_rather_than_kept_unscreened(database_url: str) -> None:
    class InTime(Thinking):
        def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
            if timeout_s is not None and timeout_s < 1:
                raise ModelTimedOut("no time was left for it")
            return super().answer(prompt, timeout_s=timeout_s)

    screen = LayeredScreen(local=LocalScreen(), model=AskedScreen(model=InTime(hazards())))
    with open_tribal(database_url, screen=screen, judge=RuledJudge(all_unrelated)) as tribal:
        draft = Draft(text=HEADER, situation="operating the service", source=SEEN)
        late = tribal.memory.learn(tribal.agent("writer"), draft, deadline_s=0.001)
        assert (late.outcome, late.reason) == (Outcome.QUARANTINED, "held back by the screen: screen_unavailable")
        assert tribal.memory.lessons(tribal.agent("other"), status=Status.PENDING).lessons == ()
        assert garden(tribal).rule(Rule.RESCREEN).kinds == {"released": 1}
        assert tribal.status_counts() == {"active": 1}


def test_an_expired_lesson_is_not_believed_and_makes_way_for_the_same_content(tribal: Tribal) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    first = tribal.learn(tribal.curator, HEADER, valid_until=until)
    assert first.lesson is not None
    tribal.clock.advance(hours=2)
    assert tribal.recall("deploy API payments header").hits == ()
    assert len(tribal.recall("deploy API payments header", include_stale=True).hits) == 1
    with pytest.raises(WrongStanding):
        tribal.memory.reinforce(tribal.agent("other"), first.lesson.lesson_id)


def test_repeated_key_gives_the_first_reply_and_another_body_is_refused(tribal: Tribal) -> None:
    draft = Draft(text=HEADER, situation="deploying", source=SEEN)
    first = tribal.memory.learn(tribal.curator, draft, idempotency_key="k1")
    again = tribal.memory.learn(tribal.curator, draft, idempotency_key="k1")
    assert again.replayed
    assert (again.outcome, again.tick, again.decision_id) == (first.outcome, first.tick, first.decision_id)
    with pytest.raises(IdempotencyConflict):
        tribal.memory.learn(tribal.curator, Draft(text=OTHER, situation="deploying", source=SEEN), idempotency_key="k1")
    assert tribal.status_counts() == {"active": 1}
    assert len(tribal.rows("SELECT * FROM tributary.lesson_event")) == 1


def test_keys_of_two_agents_do_not_meet(tribal: Tribal) -> None:
    draft = Draft(text=HEADER, situation="deploying", source=SEEN)
    tribal.memory.learn(tribal.curator, draft, idempotency_key="k1")
    second = tribal.memory.learn(tribal.agent("other"), draft, idempotency_key="k1")
    assert second.outcome is Outcome.REINFORCED


def test_a_reader_may_not_write_and_a_revoked_agent_may_not_either(tribal: Tribal) -> None:
    from tributary.service import open_operator

    with pytest.raises(Forbidden):
        tribal.learn(tribal.agent("reader", Role.READER), HEADER)
    writer = tribal.agent("writer")
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        operator.revoke_agent(tribal.name, "writer")
    with pytest.raises(Forbidden):
        tribal.learn(writer, HEADER)
    assert tribal.status_counts() == {}


def test_bad_drafts_name_the_field_and_write_nothing(tribal: Tribal) -> None:
    for fields, field in (
        ({"text": " "}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": "x" * 8193}, "text"),
        ({"situation": "x" * 2049}, "situation"),
        ({"confidence": float("nan")}, "confidence"),
        ({"valid_from": datetime(2026, 1, 1)}, "valid_from"),  # noqa: DTZ001  (the very fault)
    ):
        with pytest.raises(InvalidRequest) as caught:
            tribal.memory.learn(
                tribal.curator,
                Draft(**{"text": "t", "situation": "s", "source": SEEN, **fields}),  # type: ignore[arg-type]  # faults on purpose
            )
        assert caught.value.field == field
    assert tribal.rows("SELECT * FROM tributary.decision") == []


def test_lessons_of_another_tribe_cannot_be_seen_or_confirmed(database_url: str) -> None:
    with open_tribal(database_url, name="one") as one, open_tribal(database_url, name="two") as two:
        lesson = one.learn(one.curator, HEADER).lesson
        assert lesson is not None
        assert two.recall("deploy API payments header").hits == ()
        two.learn(two.curator, "Pagers rotate on Mondays.")  # so that its clock has reached the tick of the other's lesson
        for call in (two.memory.reinforce, two.memory.lesson):
            with pytest.raises(NotFound):
                call(two.curator, lesson.lesson_id)
        with pytest.raises(NotFound):
            one.memory.lesson(one.curator, new_id())


@pytest.mark.parametrize(
    "text",
    [
        "naïve café — 日本語 🚒",
        "zero\u200bwidth",
        "\u202eright to left",
        "tab\tand\r\nnewline",
        "e\u0301 vs é",
        "\U0010ffff",
        '"\\/\b',
    ],
)
def test_any_unicode_text_comes_back_as_it_was(tribal: Tribal, text: str) -> None:
    result = tribal.learn(tribal.curator, text, situation=f"in {text}", tags={"k": text}, rationale=text)
    assert result.lesson is not None
    stored = tribal.memory.lesson(tribal.curator, result.lesson.lesson_id).lesson
    assert (stored.text, stored.situation, stored.tags["k"], stored.rationale) == (text, f"in {text}", text, text)


def _pending(tribal: Tribal, judge: RuledJudge, agent: Principal, text: str) -> UUID:
    judge.delay_s = 0.1
    draft = Draft(text=text, situation="operating the service", source=SEEN, subject="deploy-api")
    late = tribal.memory.learn(agent, draft, deadline_s=0.02)
    judge.delay_s = 0
    assert late.outcome is Outcome.PENDING
    assert late.lesson is not None
    return late.lesson.lesson_id


def test_pending_lessons_are_settled_as_if_they_had_been_judged_in_time(database_url: str) -> None:
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, judge=judge) as tribal:
        writer, other = tribal.agent("writer"), tribal.agent("other")
        believed = tribal.learn(writer, HEADER, subject="deploy-api").lesson
        assert believed is not None
        disputed = _pending(tribal, judge, other, OTHER)
        same = _pending(tribal, judge, other, HEADER)
        assert tribal.memory.settle_pending() == 2
        assert tribal.memory.settle_pending() == 0

        def status(lesson_id: UUID) -> Status:
            return tribal.memory.lesson(writer, lesson_id).lesson.status

        assert [status(disputed), status(same), status(believed.lesson_id)] == [Status.DISPUTED, Status.RETIRED, Status.ACTIVE]
        assert tribal.memory.lesson(writer, believed.lesson_id).lesson.confirmations == 1
        own = _pending(tribal, judge, writer, HEADER.replace("true", "nightly"))
        assert tribal.memory.settle_pending() == 1
        assert [status(own), status(believed.lesson_id)] == [Status.ACTIVE, Status.SUPERSEDED]


def test_two_workers_settle_each_lesson_once(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "known", subject="deploy-api")
        for number in range(6):
            _pending(tribal, judge, tribal.curator, f"fact {number}")
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(lambda _: tribal.memory.settle_pending(), range(4))) == 6
        assert tribal.status_counts() == {"active": 7}
        events = tribal.rows("SELECT count(*) AS n FROM tributary.lesson_event WHERE event = 'learned'")
        assert events == [{"n": 7}]


def test_a_worker_beside_the_server_settles_soon(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "known", subject="deploy-api")
        _pending(tribal, judge, tribal.curator, "fact")
        with settling(tribal.memory, every_s=0.01):
            while tribal.status_counts() != {"active": 2}:
                pass


def test_a_pending_lesson_that_was_contradicted_meanwhile_is_settled_against_its_rival(database_url: str) -> None:
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, judge=judge) as tribal:
        first, writer = tribal.agent("first"), tribal.agent("writer")
        tribal.learn(tribal.curator, "a neighbour", subject="deploy-api")
        kept = _pending(tribal, judge, first, HEADER)
        rival = tribal.learn(tribal.curator, OTHER, subject="deploy-api").lesson
        assert rival is not None
        assert len(tribal.rows("SELECT * FROM tributary.rival")) == 2
        assert tribal.memory.settle_pending() == 1
        assert tribal.memory.lesson(writer, kept).lesson.status is Status.DISPUTED
        assert tribal.memory.lesson(writer, rival.lesson_id).challenges[0].lesson_id == kept


def test_a_database_in_another_time_zone_shows_the_same_times(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET timezone = 'Pacific/Kiritimati'".encode())
    with open_tribal(database_url) as tribal:
        last = datetime(9998, 12, 31, 23, 59, 59, tzinfo=UTC)
        lesson = tribal.learn(tribal.curator, HEADER, valid_until=last, keep_until=last).lesson
        assert lesson is not None
        assert (lesson.valid_until, lesson.keep_until) == (last, last)
        assert tribal.recall("deploy API payments header").hits[0].lesson.valid_until == last
        with pytest.raises(InvalidRequest):
            tribal.learn(tribal.curator, OTHER, valid_until=last.replace(year=9999))


@pytest.mark.parametrize("change", ["revoked_at = clock_timestamp()", "role = 'reader'"])
def test_what_an_author_left_pending_is_settled_though_the_author_is_gone(database_url: str, change: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "known", subject="deploy-api")
        kept = _pending(tribal, judge, tribal.agent("writer"), "fact")
        tribal.rows(f"UPDATE tributary.agent SET {change} WHERE name = 'writer'")
        assert tribal.memory.settle_pending() == 1
        assert tribal.memory.lesson(tribal.curator, kept).lesson.status is Status.ACTIVE
