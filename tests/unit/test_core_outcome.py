"""Every branch from verdicts to the outcome of a learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core_made import AUTHOR, NOON, OTHER, agent, draft, judged, lesson
from tributary.core.agent import Principal, Role
from tributary.core.confidence import half_life
from tributary.core.decision import NoAnswer, Outcome, VerdictKind
from tributary.core.lesson import Draft, Evidence, How, Kind, Source, Status
from tributary.core.outcome import CHALLENGE_SIMILARITY, Judged, Plan, plan_outcome
from tributary.core.policy import Equals, Policy

TOMORROW, IN_NINE_DAYS = NOON + timedelta(days=1), NOON + timedelta(days=9)
SAME, CONFLICTS, UNSURE, UNRELATED = VerdictKind.SAME, VerdictKind.CONFLICTS, VerdictKind.UNSURE, VerdictKind.UNRELATED
WRITER, WRITER_AS_AUTHOR, CURATOR = agent(), agent(agent_id=AUTHOR), agent(Role.CURATOR)
OLD, DISPUTE = UUID(int=100), UUID(int=900)
EVIDENT = draft(evidence=(Evidence(type="log", ref="r"),))
TOLD = Source(how=How.TOLD)
DEFAULT, NEWEST = Policy(), Policy(equals=Equals.NEWEST_OBSERVATION)
OPEN = [Status.ACTIVE, Status.DISPUTED, Status.PENDING]
CLOSED = [one for one in Status if one not in OPEN]


def plan(*known: Judged, writer: Principal = WRITER, new: Draft | None = None, policy: Policy = DEFAULT) -> Plan:
    return plan_outcome(new or draft(), writer, policy, known, at=NOON)


def changes(one: Plan) -> dict[str, object]:
    """Returns what a plan would change, without its outcome and reason."""
    named = {field.name: getattr(one, field.name) for field in fields(Plan) if field.name not in {"outcome", "reason"}}
    return {name: value for name, value in named.items() if value not in (None, ())}


def test_with_nothing_known_a_lesson_is_learned() -> None:
    one = plan()
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {})


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("writer", [WRITER, WRITER_AS_AUTHOR, CURATOR])
def test_unrelated_lessons_change_nothing(status: Status, writer: Principal) -> None:
    one = plan(judged(UNRELATED, lesson(status=status)), writer=writer)
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {})


@pytest.mark.parametrize("status", CLOSED)
@pytest.mark.parametrize("kind", VerdictKind)
def test_lessons_that_no_longer_stand_or_were_held_back_change_nothing(status: Status, kind: VerdictKind) -> None:
    one = plan(judged(kind, lesson(status=status), dispute_id=DISPUTE), writer=CURATOR)
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {})


def test_what_a_curator_says_does_not_wait_for_the_same_of_a_writer() -> None:
    assert plan(judged(SAME, lesson(status=Status.PENDING)), writer=CURATOR).outcome is Outcome.LEARNED


@pytest.mark.parametrize("writer", [WRITER, WRITER_AS_AUTHOR])
@pytest.mark.parametrize(
    ("status", "counted", "outcome"),
    [
        (Status.ACTIVE, False, Outcome.REINFORCED),
        (Status.ACTIVE, True, Outcome.UNCHANGED),
        (Status.DISPUTED, False, Outcome.DISPUTED),
        (Status.DISPUTED, True, Outcome.DISPUTED),
        (Status.PENDING, False, Outcome.PENDING),
        (Status.PENDING, True, Outcome.PENDING),
    ],
)
def test_the_same_joins_what_is_there_whoever_says_it(writer: Principal, status: Status, counted: bool, outcome: Outcome) -> None:
    known = judged(SAME, lesson(status=status), confirmed_by_writer=counted)
    one = plan(replace(known, candidate=replace(known.candidate, opponents=frozenset({OTHER}))), writer=writer)
    assert (one.outcome, changes(one)) == (outcome, {"confirm": OLD})


@pytest.mark.parametrize(
    ("writer", "new", "policy", "replaces"),
    [
        (WRITER, draft(), DEFAULT, False),
        (CURATOR, draft(), DEFAULT, True),
        (WRITER_AS_AUTHOR, draft(), DEFAULT, True),
        (WRITER, EVIDENT, DEFAULT, False),  # both were observed: equals
        (WRITER, draft(), NEWEST, True),
        (WRITER, draft(source=TOLD), NEWEST, False),
    ],
)
def test_a_conflict_supersedes_for_those_who_may_replace_and_is_disputed_for_others(
    writer: Principal, new: Draft, policy: Policy, replaces: bool
) -> None:
    one = plan(judged(CONFLICTS, lesson()), writer=writer, new=new, policy=policy)
    if replaces:
        assert (one.outcome, changes(one)) == (Outcome.SUPERSEDED, {"supersede": (OLD,), "rivals": (OLD,)})
    else:
        assert (one.outcome, changes(one)) == (Outcome.DISPUTED, {"dispute": (OLD,), "rivals": (OLD,)})


@pytest.mark.parametrize(
    ("how", "evidence", "old", "outranks"),
    [
        (how, evidence, old, how is How.OBSERVED and evidence and old in (How.TOLD, How.IMPORTED))
        for how in How
        for evidence in (False, True)
        for old in How
    ],
)
def test_by_default_only_an_observation_with_evidence_outranks_and_only_hearsay_and_imports(
    how: How, evidence: bool, old: How, outranks: bool
) -> None:
    new = replace(EVIDENT if evidence else draft(), source=Source(how=how))
    known = judged(CONFLICTS, lesson(source=Source(how=old)))
    assert plan(known, new=new).outcome is (Outcome.SUPERSEDED if outranks else Outcome.DISPUTED)
    newest = how is How.OBSERVED and old is How.OBSERVED
    assert plan(known, new=new, policy=NEWEST).outcome is (Outcome.SUPERSEDED if outranks or newest else Outcome.DISPUTED)


@pytest.mark.parametrize("writer", [WRITER, WRITER_AS_AUTHOR, CURATOR])
def test_a_conflict_with_what_is_disputed_contends_in_its_dispute_and_with_what_is_pending_is_noted(writer: Principal) -> None:
    one = plan(judged(CONFLICTS, lesson(status=Status.DISPUTED), dispute_id=DISPUTE), writer=writer)
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {"contend": (DISPUTE,), "rivals": (OLD,)})
    one = plan(judged(CONFLICTS, lesson(status=Status.PENDING)), writer=writer)
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {"rivals": (OLD,)})


@pytest.mark.parametrize("writer", [WRITER, WRITER_AS_AUTHOR, CURATOR])
@pytest.mark.parametrize(
    ("status", "new_subject", "old_subject", "similarity", "challenged"),
    [
        (Status.ACTIVE, "deploy api", "deploy-api", None, True),
        (Status.ACTIVE, None, None, CHALLENGE_SIMILARITY, True),
        (Status.ACTIVE, None, None, CHALLENGE_SIMILARITY - 0.01, False),
        (Status.ACTIVE, "deploy", "release", 0.1, False),
        (Status.ACTIVE, "deploy", None, None, False),
        (Status.DISPUTED, "deploy", "deploy", 1.0, False),
        (Status.PENDING, "deploy", "deploy", 1.0, False),
    ],
)
def test_unsure_is_learned_and_challenges_a_believed_lesson_of_the_same_subject_or_near_enough(
    writer: Principal,
    status: Status,
    new_subject: str | None,
    old_subject: str | None,
    similarity: float | None,
    challenged: bool,
) -> None:
    known = judged(UNSURE, lesson(status=status, subject=old_subject), similarity=similarity)
    one = plan(known, writer=writer, new=draft(subject=new_subject))
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {"challenge": (OLD,)} if challenged else {})
    assert ("may contradict" in one.reason) == challenged


@pytest.mark.parametrize("cause", [one for one in NoAnswer if one is not NoAnswer.BUDGET_SPENT])
@pytest.mark.parametrize("similarity", [0.1, 1.0], ids=["far", "near"])
def test_a_judge_that_gave_no_answer_is_named_as_the_reason_and_will_be_asked_again(cause: NoAnswer, similarity: float) -> None:
    known = judged(UNSURE, lesson(), similarity=similarity)
    silent = replace(known, verdict=replace(known.verdict, cause=cause))
    one = plan(silent)
    assert one.reason.endswith("; the judge gave no answer about a believed lesson and will be asked again")
    assert ("may contradict" in one.reason) == (similarity == 1.0)
    assert "nothing known" not in one.reason
    assert "no answer" not in plan(known).reason
    spent = replace(known, verdict=replace(known.verdict, cause=NoAnswer.BUDGET_SPENT))
    assert "no answer" not in plan(spent).reason, "the first judge did answer"


def test_of_several_repeated_lessons_the_surest_is_confirmed_and_of_equals_the_newest() -> None:
    known = [judged(SAME, lesson(n), confidence=c) for n, c in ((1, 0.8), (2, 0.9), (3, 0.9), (4, 0.7))]
    assert plan(*known).confirm == UUID(int=3)


def test_a_believed_repetition_goes_before_every_conflict() -> None:
    known = [judged(SAME, lesson(1)), judged(CONFLICTS, lesson(2)), judged(CONFLICTS, lesson(3, status=Status.DISPUTED))]
    for writer in (WRITER, CURATOR):
        one = plan(*known, writer=writer)
        assert (one.outcome, changes(one)) == (Outcome.REINFORCED, {"confirm": UUID(int=1)})


def test_one_conflict_that_may_not_be_replaced_disputes_them_all() -> None:
    known = [judged(CONFLICTS, lesson(1, agent_id=OTHER)), judged(CONFLICTS, lesson(2, agent_id=AUTHOR))]
    one = plan(*known, writer=WRITER)
    both = (UUID(int=1), UUID(int=2))
    assert (one.outcome, changes(one)) == (Outcome.DISPUTED, {"dispute": both, "rivals": both})
    assert plan(*known, writer=CURATOR).supersede == both


def test_a_contradiction_that_was_said_before_joins_its_dispute_unless_the_writer_may_replace() -> None:
    known = [
        judged(CONFLICTS, lesson(1)),
        judged(SAME, lesson(2, status=Status.DISPUTED), dispute_id=DISPUTE),
        judged(CONFLICTS, lesson(3, status=Status.DISPUTED), dispute_id=UUID(int=901)),
    ]
    one = plan(*known, writer=WRITER)
    assert (one.outcome, changes(one)) == (Outcome.DISPUTED, {"confirm": UUID(int=2), "dispute": (UUID(int=1),)})
    one = plan(*known, writer=CURATOR)
    assert one.outcome is Outcome.SUPERSEDED
    assert changes(one) == {
        "supersede": (UUID(int=1),),
        "settle": (UUID(int=2),),
        "contend": (UUID(int=901),),
        "rivals": (UUID(int=1), UUID(int=3)),
    }


def test_a_pending_repetition_waits_with_it_unless_something_believed_is_contradicted() -> None:
    pending = judged(SAME, lesson(2, status=Status.PENDING))
    disputed = judged(SAME, lesson(3, status=Status.DISPUTED), dispute_id=DISPUTE)
    assert plan(pending, disputed).outcome is Outcome.PENDING
    assert plan(pending, judged(CONFLICTS, lesson(1))).outcome is Outcome.DISPUTED
    assert plan(pending, judged(CONFLICTS, lesson(1)), writer=CURATOR).outcome is Outcome.SUPERSEDED


def test_superseding_still_challenges_what_the_judge_was_unsure_of() -> None:
    one = plan(judged(CONFLICTS, lesson(1)), judged(UNSURE, lesson(2), similarity=0.9), writer=CURATOR)
    assert (one.supersede, one.challenge) == ((UUID(int=1),), (UUID(int=2),))


@pytest.mark.parametrize(
    "gone", [{"valid_until": NOON}, {"last_confirmed_at": NOON - 2 * half_life(Kind.GOTCHA)}], ids=["expired", "withered"]
)
@pytest.mark.parametrize("kind", VerdictKind)
def test_what_time_has_ended_is_stamped_and_counts_for_nothing_else(gone: dict[str, Any], kind: VerdictKind) -> None:
    one = plan(judged(kind, lesson(**gone), similarity=0.9))
    assert (one.outcome, changes(one)) == (Outcome.LEARNED, {"lapse": (OLD,)})
    other = plan(judged(kind, lesson(**gone)), judged(CONFLICTS, lesson(1)))
    assert (other.outcome, other.lapse, other.dispute) == (Outcome.DISPUTED, (OLD,), (UUID(int=1),))
    again = plan(judged(kind, lesson(**gone)), judged(SAME, lesson(1)))
    assert (again.outcome, again.lapse, again.confirm) == (Outcome.REINFORCED, (OLD,), UUID(int=1))


def test_time_does_not_end_what_is_not_believed() -> None:
    old = lesson(status=Status.DISPUTED, valid_until=NOON - timedelta(days=1))
    assert plan(judged(SAME, old)).lapse == ()


def test_what_was_disputed_is_believed_once_nothing_believed_speaks_against_it() -> None:
    twin = judged(SAME, lesson(status=Status.DISPUTED))
    gone = judged(UNRELATED, lesson(OTHER.int, valid_until=NOON - timedelta(days=1)))
    opposed = replace(twin, candidate=replace(twin.candidate, opponents=frozenset({OTHER})))
    alone, lapsed, standing = plan(twin), plan(opposed, gone), plan(opposed)
    assert (alone.outcome, alone.settle) == (lapsed.outcome, lapsed.settle) == (Outcome.LEARNED, (OLD,))
    assert lapsed.lapse == (OTHER,)
    assert (standing.outcome, standing.confirm) == (Outcome.DISPUTED, OLD)


@pytest.mark.parametrize(
    ("writer", "new", "known", "outcome"),
    [
        (
            WRITER_AS_AUTHOR,
            {"valid_until": NOON + timedelta(days=9)},
            {"valid_until": NOON + timedelta(days=1)},
            Outcome.SUPERSEDED,
        ),
        (WRITER, {"valid_until": NOON + timedelta(days=9)}, {"valid_until": NOON + timedelta(days=1)}, Outcome.DISPUTED),
        (WRITER, {}, {"valid_until": NOON + timedelta(days=1)}, Outcome.REINFORCED),
        (WRITER, {}, {"valid_from": NOON + timedelta(days=1)}, Outcome.DISPUTED),
        (WRITER, {"valid_until": NOON + timedelta(days=1)}, {"valid_until": NOON + timedelta(days=1)}, Outcome.REINFORCED),
    ],
)
def test_equal_words_for_another_time_are_another_claim(
    writer: Principal, new: dict[str, Any], known: dict[str, Any], outcome: Outcome
) -> None:
    assert plan(judged(SAME, lesson(**known)), writer=writer, new=draft(**new)).outcome is outcome


@pytest.mark.parametrize(
    ("writer", "new", "old", "why"),
    [
        (CURATOR, draft(), [{}], "replaces a believed lesson: a curator says otherwise"),
        (WRITER_AS_AUTHOR, draft(), [{}, {}], "replaces 2 believed lessons: its own author says otherwise now"),
        (WRITER, EVIDENT, [{"source": TOLD}], "replaces a believed lesson: its source outranks theirs"),
        (
            WRITER_AS_AUTHOR,
            EVIDENT,
            [{}, {"source": TOLD, "agent_id": OTHER}],
            "replaces 2 believed lessons: its author says otherwise now, and its source outranks the others'",
        ),
    ],
)
def test_the_reason_says_why_it_might_be_replaced(writer: Principal, new: Draft, old: list[dict[str, Any]], why: str) -> None:
    known = [judged(CONFLICTS, lesson(number, **one)) for number, one in enumerate(old, 1)]
    assert plan(*known, writer=writer, new=new).reason == why


VERDICTS = st.lists(
    st.builds(
        lambda number, kind, status, how, owner, confirmed, similarity: judged(
            kind,
            lesson(number, status=status, source=Source(how=how), agent_id=owner),
            confirmed_by_writer=confirmed,
            similarity=similarity,
            dispute_id=UUID(int=1000 + number) if status is Status.DISPUTED else None,
        ),
        st.integers(1, 50),
        st.sampled_from(VerdictKind),
        st.sampled_from(Status),
        st.sampled_from(How),
        st.sampled_from([AUTHOR, UUID(int=44)]),
        st.booleans(),
        st.none() | st.floats(-1, 1),
    ),
    max_size=8,
    unique_by=lambda one: one.candidate.lesson.lesson_id,
)


@settings(deadline=None)
@given(VERDICTS, st.sampled_from([How.TOLD, How.IMPORTED, How.DERIVED]), st.booleans())
def test_who_owns_and_outranks_nothing_never_ends_a_belief(known: Sequence[Judged], how: How, newest: bool) -> None:
    new = replace(EVIDENT, source=Source(how=how))
    one = plan(*known, writer=WRITER, new=new, policy=NEWEST if newest else DEFAULT)
    assert one.outcome is not Outcome.SUPERSEDED
    assert (one.supersede, one.lapse) == ((), ())


@settings(deadline=None)
@given(VERDICTS, st.sampled_from([WRITER, WRITER_AS_AUTHOR, CURATOR]))
def test_without_a_conflict_nobody_ends_a_belief(known: Sequence[Judged], writer: Principal) -> None:
    """So a judge that cannot be reached, whose every verdict is unsure, destroys nothing."""
    mild = [one for one in known if one.verdict.kind is not CONFLICTS]
    one = plan(*mild, writer=writer, new=EVIDENT, policy=NEWEST)
    assert one.outcome is not Outcome.SUPERSEDED
    assert (one.supersede, one.dispute, one.rivals, one.contend) == ((), (), (), ())
    unsure = [replace(j, verdict=replace(j.verdict, kind=UNSURE, confidence=0.0, cause="judge_unavailable")) for j in known]
    one = plan(*unsure, writer=writer, new=EVIDENT, policy=NEWEST)
    assert one.outcome is Outcome.LEARNED
    assert set(changes(one)) <= {"challenge"}


@settings(deadline=None)
@given(VERDICTS, st.sampled_from([WRITER, WRITER_AS_AUTHOR, CURATOR]))
def test_a_plan_touches_only_what_was_judged_and_believes_no_two_rivals(known: Sequence[Judged], writer: Principal) -> None:
    one = plan(*known, writer=writer, new=EVIDENT)
    active = {j.candidate.lesson.lesson_id for j in known if j.candidate.lesson.status is Status.ACTIVE}
    conflicting = {j.candidate.lesson.lesson_id for j in known if j.verdict.kind is CONFLICTS}
    assert {*one.supersede, *one.dispute, *one.challenge} <= active
    assert set(one.rivals) <= conflicting
    if one.outcome in (Outcome.LEARNED, Outcome.SUPERSEDED):
        assert active & conflicting == set(one.supersede)
        assert set(one.rivals) & active == set(one.supersede)
    assert not {*one.supersede} & {*one.challenge}
    # a lesson of its own, or one that stands for it; a dispute that is joined gets what this one contradicts
    assert one.confirm is not None or one.outcome in (Outcome.LEARNED, Outcome.SUPERSEDED) or bool(one.dispute)
    assert one.confirm is None or not (one.supersede or one.rivals)
