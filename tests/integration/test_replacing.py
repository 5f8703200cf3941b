"""A lesson that takes the place of others because its writer says so, whatever a judge would say of the pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.tribes import SEEN, Tribal, id_of, open_tribal
from tributary.core.agent import Principal
from tributary.core.curation import RetireCause
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import Forbidden, InvalidRequest, NotFound, TributaryError, WrongStanding
from tributary.core.ids import new_id
from tributary.core.lesson import Draft, Status


@pytest.fixture
def judge() -> RuledJudge:
    return RuledJudge(all_unrelated)


@pytest.fixture
def ruled(database_url: str, judge: RuledJudge) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=judge) as opened:
        yield opened


def standing(tribal: Tribal, lesson_id: UUID) -> tuple[Status, UUID | None]:
    lesson = tribal.memory.lesson(tribal.curator, lesson_id).lesson
    return lesson.status, lesson.superseded_by


def test_a_lesson_replaces_its_authors_own_though_the_judge_sees_nothing_in_common(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    first, second = (id_of(ruled.learn(writer, text)) for text in ("ports are 80", "disks are full at 90%"))
    learned = ruled.learn(writer, "ports are 81, disks full at 95%", replaces=(first, second))
    assert learned.outcome is Outcome.SUPERSEDED
    assert set(learned.replaced) == {first, second}
    assert [standing(ruled, one) for one in (first, second)] == [(Status.SUPERSEDED, id_of(learned))] * 2
    (decision,) = ruled.rows("SELECT verdicts FROM tributary.decision WHERE outcome = 'superseded'")
    said = {(one["verdict"], one["judge"]) for one in decision["verdicts"]}  # type: ignore[attr-defined]  # JSON
    assert said == {("conflicts", "agent-said/1")}


def test_a_chain_of_replacements_is_kept(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    ids = [id_of(ruled.learn(writer, "the port is 0"))]
    for number in range(1, 4):
        ids.append(id_of(ruled.learn(writer, f"the port is {number}", replaces=(ids[-1],))))
    assert [standing(ruled, one)[1] for one in ids] == [*ids[1:], None]


def test_equal_words_with_other_tags_replace_their_own(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80", tags={"env": "dev"}))
    learned = ruled.learn(writer, "the port is 80", tags={"env": "prod"}, replaces=(first,))
    assert learned.outcome is Outcome.SUPERSEDED
    assert ruled.status_counts() == {"active": 1, "superseded": 1}


def test_nobody_but_a_curator_replaces_what_another_taught(ruled: Tribal, judge: RuledJudge) -> None:
    first = id_of(ruled.learn(ruled.agent("author"), "the port is 80"))
    ruled.learn(ruled.curator, "something that a judge would be asked about")
    other = ruled.agent("other")
    asked = len(judge.asked)
    with pytest.raises(Forbidden, match="another agent's"):
        ruled.learn(other, "the port is 81", replaces=(first,))
    with pytest.raises(Forbidden, match="another agent's"):
        ruled.memory.learn(other, Draft(text="it is 81", situation="s", source=SEEN, replaces=(first,)), wait=False)
    assert len(judge.asked) == asked
    assert ruled.status_counts() == {"active": 2}
    assert ruled.learn(ruled.curator, "the port is 81", replaces=(first,)).outcome is Outcome.SUPERSEDED


def test_one_lesson_that_may_not_be_replaced_keeps_all_of_them(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    own = id_of(ruled.learn(writer, "the port is 80"))
    other = id_of(ruled.learn(ruled.curator, "the disk is full"))
    with pytest.raises(Forbidden):
        ruled.learn(writer, "the port is 81", replaces=(own, other))
    assert ruled.status_counts() == {"active": 2}


@pytest.mark.parametrize("wait", [True, False])
def test_what_is_not_believed_any_more_or_not_there_cannot_be_replaced(ruled: Tribal, *, wait: bool) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80"))
    ruled.learn(writer, "the port is 81", replaces=(first,))
    for lesson_id, refusal in ((first, WrongStanding), (new_id(), NotFound)):
        draft = Draft(text="the port is 82", situation="s", source=SEEN, replaces=(lesson_id,))
        with pytest.raises(refusal):
            ruled.memory.learn(writer, draft, wait=wait)
    assert ruled.status_counts() == {"active": 1, "superseded": 1}


def test_more_than_eight_are_refused(ruled: Tribal) -> None:
    with pytest.raises(InvalidRequest, match="replaces"):
        ruled.learn(ruled.agent("writer"), "too much", replaces=tuple(new_id() for _ in range(9)))


def test_a_pending_replacement_takes_the_place_once_it_is_settled(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80"))
    kept = ruled.memory.learn(writer, Draft(text="it is 81", situation="s", source=SEEN, replaces=(first,)), wait=False)
    assert kept.outcome is Outcome.PENDING
    assert standing(ruled, first)[0] is Status.ACTIVE
    assert ruled.memory.settle(ruled.tribe_id, deadline_s=60).done == 1
    assert standing(ruled, first) == (Status.SUPERSEDED, id_of(kept))


def test_a_held_back_replacement_takes_the_place_once_a_curator_releases_it(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80"))
    held = ruled.learn(writer, "HIJACK the port", replaces=(first,))
    assert held.outcome is Outcome.QUARANTINED
    assert standing(ruled, first)[0] is Status.ACTIVE
    ruled.memory.curate.release(ruled.curator, id_of(held))
    assert standing(ruled, first) == (Status.SUPERSEDED, id_of(held))


def test_a_replacement_that_contradicts_anothers_lesson_is_disputed_and_replaces_nothing_yet(
    ruled: Tribal, judge: RuledJudge
) -> None:
    writer = ruled.agent("writer")
    own = id_of(ruled.learn(writer, "the port is 80"))
    ruled.learn(ruled.curator, "the port is 90")
    judge.rule = lambda *_: VerdictKind.CONFLICTS
    assert ruled.learn(writer, "the port is 81", replaces=(own,)).outcome is Outcome.DISPUTED
    assert standing(ruled, own)[0] is Status.ACTIVE


def test_what_is_said_already_by_a_believed_lesson_ends_what_was_to_be_replaced(ruled: Tribal, judge: RuledJudge) -> None:
    writer = ruled.agent("writer")
    own = id_of(ruled.learn(writer, "the port is 80"))
    known = id_of(ruled.learn(ruled.curator, "the port is 81"))
    judge.rule = lambda *_: VerdictKind.SAME
    learned = ruled.learn(writer, "it is port 81", replaces=(own,))
    assert (learned.outcome, id_of(learned)) == (Outcome.REINFORCED, known)
    assert standing(ruled, own)[0] is Status.RETIRED


def test_a_lesson_for_another_time_replaces_too(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    now = ruled.clock()
    first = id_of(ruled.learn(writer, "the port is 80", valid_until=now + timedelta(days=1)))
    learned = ruled.learn(writer, "the port is 81", valid_from=now + timedelta(days=1), replaces=(first,))
    assert learned.replaced == (first,)


def twice(tribal: Tribal, judge: RuledJudge, first: UUID, writer: Principal, meanwhile: Callable[[], object]) -> TributaryError:
    """Has `meanwhile` happen between the reading and the commit of a replacement, and returns what it was refused with."""

    def once() -> None:
        judge.before = None
        meanwhile()

    tribal.learn(tribal.curator, "something to be judged against")
    judge.before = once
    with pytest.raises(TributaryError) as refused:
        tribal.learn(writer, "the port is 82", replaces=(first,))
    return refused.value


def test_two_replacements_at_once_leave_one_successor(ruled: Tribal, judge: RuledJudge) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80"))
    refused = twice(ruled, judge, first, writer, lambda: ruled.learn(writer, "the port is 81", replaces=(first,)))
    assert isinstance(refused, WrongStanding)
    (successor,) = ruled.rows("SELECT text FROM tributary.lesson WHERE lesson_id = %s", standing(ruled, first)[1])
    assert successor["text"] == "the port is 81"


def test_a_lesson_that_is_retired_meanwhile_is_not_replaced(ruled: Tribal, judge: RuledJudge) -> None:
    writer = ruled.agent("writer")
    first = id_of(ruled.learn(writer, "the port is 80"))
    refused = twice(ruled, judge, first, writer, lambda: ruled.memory.curate.retire(writer, first, RetireCause.OUTDATED))
    assert isinstance(refused, WrongStanding)
    assert standing(ruled, first) == (Status.RETIRED, None)


def test_a_repeated_key_gives_the_first_reply_and_another_list_is_another_request(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    first, second = (id_of(ruled.learn(writer, text)) for text in ("the port is 80", "the disk is full"))
    draft = Draft(text="the port is 81", situation="s", source=SEEN, replaces=(first,))
    once, again = (ruled.memory.learn(writer, draft, idempotency_key="k") for _ in range(2))
    assert again.replayed
    assert again.decision_id == once.decision_id
    with pytest.raises(TributaryError, match="idempotency"):
        ruled.memory.learn(writer, replace(draft, replaces=(second,)), idempotency_key="k")
