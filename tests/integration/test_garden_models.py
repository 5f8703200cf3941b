"""What a missing model left: lessons are screened again, pairs are judged again, and nothing is done without an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, WordScreen, all_unrelated, same_text_same_else_conflict
from tests.gardens import (
    HEADER,
    OTHER,
    AwayJudge,
    dump,
    garden,
    how_it_ended,
    kinds,
    learned,
    room_for,
    status,
    ticks,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.curation import Dispute, DisputeKind, Ending, RetireCause
from tributary.core.decision import Outcome, ScreenFinding, VerdictKind
from tributary.core.garden import Rule
from tributary.core.lesson import Draft, Evidence, How, Lesson, Source
from tributary.service import open_memory


def test_a_lesson_held_back_for_want_of_a_screen_is_learned_as_its_authors_when_it_is_clean(database_url: str) -> None:
    screen = WordScreen(fails=True)
    with open_tribal(database_url, screen=screen, judge=RuledJudge(all_unrelated)) as tribal:
        writer = tribal.agent("writer")
        clean, caught = learned(tribal, writer, HEADER), learned(tribal, writer, "HIJACK the reader")
        before = ticks(tribal)
        assert garden(tribal).rule(Rule.RESCREEN).refused == {"screen_unavailable": 2}
        assert garden(tribal).rule(Rule.RESCREEN).left == 2
        assert ticks(tribal) == before
        assert len(tribal.rows("SELECT * FROM tributary.decision")) == 2, "a screen that is away decides nothing"
        screen.fails = False
        report = garden(tribal).rule(Rule.RESCREEN)
        assert (kinds(report), report.left) == ({"released": 1, "caught": 1}, 0)
        assert (status(tribal, clean), status(tribal, caught)) == ("active", "quarantined")
        assert tribal.memory.lesson(tribal.curator, clean.lesson_id).lesson.agent_name == "writer"
        assert tribal.recall("deploy API payments header").hits[0].lesson.lesson_id == clean.lesson_id
        held = tribal.memory.desk.quarantine(tribal.curator).items
        assert [one.reasons for one in held] == [("override",)]
        assert garden(tribal).idle


@pytest.mark.parametrize("role", list(Role)[1:])
def test_a_lesson_that_is_screened_again_is_weighed_by_the_role_of_its_author(database_url: str, role: Role) -> None:
    screen = WordScreen()
    with open_tribal(database_url, screen=screen, judge=RuledJudge(same_text_same_else_conflict)) as tribal:
        known = learned(tribal, tribal.agent("first"), HEADER, subject="deploy-api")
        screen.fails = True
        held = learned(tribal, tribal.agent("second", role), OTHER, subject="deploy-api")
        screen.fails = False
        garden(tribal)
        replaces = role is Role.CURATOR
        assert (status(tribal, held), status(tribal, known)) == (("active", "superseded") if replaces else ("disputed", "active"))


def test_what_a_screen_caught_is_not_screened_again(database_url: str) -> None:
    screen = WordScreen()
    with open_tribal(database_url, screen=screen) as tribal:
        caught = learned(tribal, tribal.curator, "HIJACK the reader")
        screen.word = "nothing"
        assert garden(tribal).idle
        assert status(tribal, caught) == "quarantined"


def test_a_lesson_that_is_held_back_for_another_reason_as_well_stays_so(database_url: str) -> None:
    """Rules caught it while the model was away: the model's word alone would not release it."""

    class HalfAway:
        version = "half-away/1"

        def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
            return ScreenFinding(screen=self.version, reasons=("override", "screen_unavailable"))

    with open_tribal(database_url, screen=HalfAway()) as tribal:
        learned(tribal, tribal.curator, HEADER)
        assert tribal.rows("SELECT unjudged FROM tributary.decision") == [{"unjudged": True}]
        with open_memory(tribal.settings, adapters=replace(tribal.adapters, screen=WordScreen())) as memory:
            assert memory.gardener.run(tribal.tribe_id).idle
        away = replace(tribal.adapters, screen=WordScreen(fails=True))
        with open_memory(tribal.settings, adapters=away) as memory:
            memory.learn(tribal.curator, Draft(text=OTHER, situation="deploying", source=SEEN))
        with open_memory(tribal.settings, adapters=replace(tribal.adapters, screen=WordScreen())) as memory:
            assert kinds(memory.gardener.run(tribal.tribe_id).rule(Rule.RESCREEN)) == {"released": 1}
        assert tribal.status_counts() == {"active": 1, "quarantined": 1}


def unjudged_pair(tribal: Tribal, newer: Principal, older: Principal, **fields: object) -> tuple[Lesson, Lesson]:
    """Two believed lessons that no judge could be asked about: the older and the newer."""
    old = learned(tribal, older, HEADER, subject="deploy-api")
    new = learned(tribal, newer, OTHER, subject="deploy-api", **fields)
    assert tribal.status_counts() == {"active": 2}
    assert tribal.rows("SELECT count(*) AS n FROM tributary.dispute WHERE state = 'open'") == [{"n": 1}]
    return old, new


def open_challenge(tribal: Tribal) -> Dispute:
    return tribal.memory.desk.disputes(tribal.curator, kind=DisputeKind.UNSURE).items[0]


def saying(kind: VerdictKind) -> AwayJudge:
    return AwayJudge(lambda _new, _old: kind)


def test_while_the_judge_is_away_nothing_changes(database_url: str) -> None:
    with open_tribal(database_url, judge=saying(VerdictKind.CONFLICTS)) as tribal:
        unjudged_pair(tribal, tribal.curator, tribal.agent("writer"))
        before = dump(database_url, but_turns=True)
        report = garden(tribal).rule(Rule.REJUDGE)
        assert (report.done, report.left, report.refused) == (0, 1, {"judge_unavailable": 1})
        assert dump(database_url, but_turns=True) == before


def test_a_pair_that_turns_out_unrelated_is_cleared_of_its_challenge(database_url: str) -> None:
    judge = saying(VerdictKind.UNRELATED)
    with open_tribal(database_url, judge=judge) as tribal:
        old, new = unjudged_pair(tribal, tribal.curator, tribal.agent("writer"))
        judge.away = False
        before = ticks(tribal)
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"cleared": 1}
        assert ticks(tribal) == before + 1
        assert tribal.status_counts() == {"active": 2}
        assert tribal.rows("SELECT state, ending FROM tributary.dispute") == [{"state": "settled", "ending": "moot"}]
        cleared = tribal.rows("SELECT lesson_id FROM tributary.lesson_event WHERE event = 'cleared'")
        assert {one["lesson_id"] for one in cleared} == {old.lesson_id, new.lesson_id}
        assert garden(tribal).idle
        assert judge.asked == [(OTHER, HEADER)], "each pair is asked about once"
        newest = tribal.memory.desk.decisions(tribal.curator).items[0]
        assert newest.reason == "judged again: nothing that was left open speaks against it"
        assert [(one["verdict"], one["cause"]) for one in newest.verdicts] == [("unrelated", None)]


@pytest.mark.parametrize("own", [False, True])
def test_of_two_that_say_the_same_the_newer_is_retired_and_its_author_counts_for_the_older(database_url: str, own: bool) -> None:
    judge = saying(VerdictKind.SAME)
    with open_tribal(database_url, judge=judge) as tribal:
        writer, other = tribal.agent("writer"), tribal.agent("other")
        old, new = unjudged_pair(tribal, writer if own else other, writer)
        judge.away = False
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"same": 1}
        assert how_it_ended(tribal, new.lesson_id) == ("retired", {"cause": "same_as_known", "lesson": str(old.lesson_id)})
        assert tribal.memory.lesson(writer, old.lesson_id).lesson.confirmations == int(not own)
        assert tribal.rows("SELECT count(*) AS n FROM tributary.dispute WHERE state = 'open'") == [{"n": 0}]
        assert garden(tribal).idle


def test_an_author_who_confirmed_the_older_one_meanwhile_counts_once(database_url: str) -> None:
    judge = saying(VerdictKind.SAME)
    with open_tribal(database_url, judge=judge) as tribal:
        other = tribal.agent("other")
        old, _ = unjudged_pair(tribal, other, tribal.agent("writer"))
        tribal.memory.reinforce(other, old.lesson_id)
        judge.away = False
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"same": 1}
        assert tribal.memory.lesson(other, old.lesson_id).lesson.confirmations == 1


def by_role(tribal: Tribal) -> tuple[Principal, Principal, dict[str, object]]:
    return tribal.curator, tribal.agent("writer"), {}


def by_ownership(tribal: Tribal) -> tuple[Principal, Principal, dict[str, object]]:
    writer = tribal.agent("writer")
    return writer, writer, {}


def by_policy(tribal: Tribal) -> tuple[Principal, Principal, dict[str, object]]:
    tribal.rows(
        """UPDATE tributary.tribe SET policy_version = policy_version + 1,
           policy = '{"precedence": [{"how": "observed", "with_evidence": true, "over": ["observed"]}]}'"""
    )
    return tribal.agent("other"), tribal.agent("writer"), {"evidence": (Evidence(type="log", ref="s3://logs/1"),)}


@pytest.mark.parametrize("may", [by_role, by_ownership, by_policy])
def test_a_contradiction_by_one_who_may_replace_the_older_retires_it_and_makes_them_rivals(
    database_url: str, may: Callable[[Tribal], tuple[Principal, Principal, dict[str, object]]]
) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        newer, older, fields = may(tribal)
        old, new = unjudged_pair(tribal, newer, older, **fields)
        judge.away = False
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"contradicted": 1}
        assert how_it_ended(tribal, old.lesson_id) == ("retired", {"cause": "contradicted", "lesson": str(new.lesson_id)})
        assert status(tribal, new) == "active"
        pair = tuple(sorted((old.lesson_id, new.lesson_id)))
        assert [(one["a"], one["b"]) for one in tribal.rows("SELECT a, b FROM tributary.rival")] == [pair]
        assert tribal.rows("SELECT ending FROM tributary.dispute") == [{"ending": "moot"}]
        assert garden(tribal).idle


def test_a_contradiction_by_one_who_may_not_replace_the_older_waits_for_a_curator(database_url: str) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        old, new = unjudged_pair(tribal, tribal.agent("other"), tribal.agent("writer"))
        judge.away = False
        before = ticks(tribal)
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"unchanged": 1}, "the challenge that is open stays"
        assert ticks(tribal) == before
        assert tribal.status_counts() == {"active": 2}
        assert [one.lesson_id for one in tribal.memory.lesson(tribal.curator, old.lesson_id).challenges] == [new.lesson_id]
        assert garden(tribal).idle


@pytest.mark.parametrize("kind", [VerdictKind.CONFLICTS, VerdictKind.UNSURE])
def test_where_none_is_open_a_challenge_is_opened(database_url: str, kind: VerdictKind) -> None:
    judge = AwayJudge(lambda _new, _old: kind)
    with open_tribal(database_url, judge=judge) as tribal:
        old, new = unjudged_pair(tribal, tribal.agent("other"), tribal.agent("writer"))
        tribal.rows("DELETE FROM tributary.dispute_about")
        tribal.rows("DELETE FROM tributary.dispute")
        judge.away = False
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"challenged": 1}
        for one, against in ((old, new), (new, old)):
            found = tribal.memory.lesson(tribal.curator, one.lesson_id).challenges
            assert [challenge.lesson_id for challenge in found] == [against.lesson_id]
        assert garden(tribal).idle


def test_an_unsure_answer_about_lessons_that_have_little_in_common_opens_nothing(database_url: str) -> None:
    judge = saying(VerdictKind.UNSURE)
    with open_tribal(database_url, judge=judge) as tribal:
        learned(tribal, tribal.curator, "alpha", situation="one", subject="first")
        learned(tribal, tribal.curator, "omega", situation="two", subject="second")
        judge.away = False
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"unchanged": 1}
        assert tribal.rows("SELECT * FROM tributary.dispute") == []


def test_only_pairs_that_got_no_answer_and_are_believed_still_are_asked_about(database_url: str) -> None:
    judge = AwayJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        gone = learned(tribal, tribal.curator, "gone", subject="matter")
        learned(tribal, tribal.curator, "stays", subject="matter")
        learned(tribal, tribal.curator, "answered", subject="matter")
        learned(tribal, tribal.curator, "newest", subject="matter")
        tribal.memory.curate.retire(tribal.curator, gone.lesson_id, RetireCause.OUTDATED)
        judge.away, judge.silent_about = False, "stays"
        report = garden(tribal).rule(Rule.REJUDGE)
        assert (report.left, report.refused) == (2, {"judge_unavailable": 2})
        assert sorted(judge.asked) == [("answered", "stays"), ("newest", "answered"), ("newest", "stays")]
        judge.asked.clear()
        judge.silent_about = None
        garden(tribal)
        assert sorted(judge.asked) == [("answered", "stays"), ("newest", "stays")]
        assert garden(tribal).idle


def test_a_pair_that_a_curator_decided_is_not_asked_about(database_url: str) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        unjudged_pair(tribal, tribal.curator, tribal.agent("writer"))
        dispute = open_challenge(tribal)
        tribal.memory.curate.resolve(tribal.curator, dispute.dispute_id, Ending.BOTH_STAND)
        judge.away = False
        garden(tribal)
        assert judge.asked == []
        assert tribal.status_counts() == {"active": 2}
        assert garden(tribal).idle


def _retire_newer(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    tribal.memory.curate.retire(tribal.curator, new.lesson_id, RetireCause.OUTDATED)


def _retire_older(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    tribal.memory.curate.retire(tribal.curator, old.lesson_id, RetireCause.OUTDATED)


def _let_both_stand(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    tribal.memory.curate.resolve(tribal.curator, dispute, Ending.BOTH_STAND)


def _demote(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    tribal.rows("UPDATE tributary.agent SET role = 'writer' WHERE name = 'second'")


def _challenge(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    tribal.rows(
        """SELECT tributary.open_dispute_v1(d.tribe_id, %s, 'unsure', %s, ARRAY[%s]::uuid[], d.decision_id, NULL, 1, now())
           FROM tributary.decision d LIMIT 1""",
        dispute,
        new.lesson_id,
        old.lesson_id,
    )


def _change_policy(tribal: Tribal, old: Lesson, new: Lesson, dispute: UUID) -> None:
    room_for(tribal, 1000)


@pytest.mark.parametrize("meanwhile", [_retire_newer, _retire_older, _let_both_stand, _demote, _change_policy])
def test_an_answer_is_not_applied_when_the_pair_is_another_by_then(
    database_url: str, meanwhile: Callable[[Tribal, Lesson, Lesson, UUID], None]
) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        old, new = unjudged_pair(tribal, tribal.agent("second", Role.CURATOR), tribal.agent("writer"))
        dispute = open_challenge(tribal).dispute_id
        judge.away, judge.before = False, lambda: meanwhile(tribal, old, new, dispute)
        report = garden(tribal).rule(Rule.REJUDGE)
        assert (report.done, report.refused) == (0, {"changed_meanwhile": 1})
        assert tribal.rows("SELECT * FROM tributary.rival") == []
        assert tribal.rows("SELECT * FROM tributary.lesson_event WHERE details ->> 'cause' = 'contradicted'") == []


@pytest.mark.parametrize("meanwhile", [_retire_newer, _retire_older, _challenge])
def test_an_answer_about_a_pair_without_a_challenge_is_not_applied_when_it_is_another_by_then(
    database_url: str, meanwhile: Callable[[Tribal, Lesson, Lesson, UUID], None]
) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        old, new = unjudged_pair(tribal, tribal.curator, tribal.agent("writer"))
        tribal.rows("DELETE FROM tributary.dispute_about")
        tribal.rows("DELETE FROM tributary.dispute")  # nothing else tells that the pair is another now
        judge.away, judge.before = False, lambda: meanwhile(tribal, old, new, new.lesson_id)
        assert garden(tribal).rule(Rule.REJUDGE).refused == {"changed_meanwhile": 1}
        assert tribal.rows("SELECT * FROM tributary.lesson_event WHERE details ->> 'cause' = 'contradicted'") == []
        assert tribal.rows("SELECT * FROM tributary.rival") == []


def test_told_sources_are_replaced_by_role_only_where_policy_says_so(database_url: str) -> None:
    """The default policy, by which an observation with evidence outranks hearsay, holds for late answers too."""
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        old = learned(tribal, tribal.agent("hearer"), HEADER, subject="deploy-api", source=Source(how=How.TOLD, ref="mail"))
        learned(tribal, tribal.agent("seer"), OTHER, subject="deploy-api", evidence=(Evidence(type="log", ref="s3://1"),))
        judge.away = False
        garden(tribal)
        assert status(tribal, old) == "retired"


def test_a_lesson_that_lapses_in_the_run_is_not_judged(database_url: str) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        soon = datetime.now(UTC) + timedelta(hours=1)
        old = learned(tribal, tribal.agent("writer"), HEADER, subject="deploy-api", valid_until=soon)
        learned(tribal, tribal.curator, OTHER, subject="deploy-api")
        judge.away = False
        tribal.clock.advance(hours=2)
        garden(tribal)
        assert judge.asked == []
        assert how_it_ended(tribal, old.lesson_id)[1]["cause"] == "expired"
        assert garden(tribal).rule(Rule.REJUDGE).kinds == {"closed": 1}
        assert garden(tribal).idle


def test_outcomes_of_late_answers_are_recorded_as_decisions(database_url: str) -> None:
    judge = saying(VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        unjudged_pair(tribal, tribal.curator, tribal.agent("writer"))
        judge.away = False
        garden(tribal)
        newest = tribal.memory.desk.decisions(tribal.curator).items[0]
        assert newest.outcome is Outcome.SUPERSEDED
        assert [one["judge"] for one in newest.verdicts] == ["away/1"]
