"""Durable actions on a real database: granted once, in doubt when nobody can tell, reconciled by a curator."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.action import Action, ActionState, BeginOutcome, Begun, Doubt
from tributary.core.agent import Principal, Role
from tributary.core.decision import Outcome
from tributary.core.errors import Forbidden, IdempotencyConflict, InvalidRequest, NotFound, WrongStanding
from tributary.core.garden import Rule
from tributary.core.lesson import Draft, Status

KEY = "reboot:db-7:inc-12"
LESSON = Draft(text="db-7 comes back within a minute", situation="rebooting db-7", source=SEEN)


@pytest.fixture
def writer(tribal: Tribal) -> Principal:
    return tribal.agent("writer")


def begin(tribal: Tribal, agent: Principal, key: str = KEY, *, under: str | None = None, lease_s: int = 60) -> Begun:
    return tribal.memory.actions.begin(agent, key, "reboot db-7", lease_s=lease_s, idempotency_key=under)


def held(tribal: Tribal, agent: Principal, key: str = KEY) -> tuple[Action, str]:
    """Begins an action and returns it with its lease."""
    begun = begin(tribal, agent, key)
    assert begun.lease is not None
    return begun.action, begun.lease


def stored(tribal: Tribal) -> list[dict[str, object]]:
    return tribal.rows("SELECT state, attempt, doubt FROM tributary.action WHERE tribe_id = %s", tribal.tribe_id)


def test_an_action_is_granted_completed_and_then_answered_with_its_result(tribal: Tribal, writer: Principal) -> None:
    begun = begin(tribal, writer)
    assert (begun.outcome, begun.action.state, begun.action.attempt) == (BeginOutcome.GRANTED, ActionState.BEGUN, 1)
    assert begun.lease is not None
    assert begin(tribal, tribal.curator).outcome is BeginOutcome.BUSY
    result = {"rebooted": True, "took_s": 1e300, "ids": [1, None, "é"]}
    completed = tribal.memory.actions.complete(writer, begun.action.action_id, begun.lease, result)
    assert (completed.action.state, completed.action.result) == (ActionState.DONE, result)
    again = begin(tribal, tribal.curator)
    assert (again.outcome, again.lease, again.action.result) == (BeginOutcome.DONE, None, result)
    assert isinstance(again.action.result, dict)
    assert isinstance(again.action.result["took_s"], float)


def test_of_sixteen_that_begin_at_once_exactly_one_is_granted(tribal: Tribal) -> None:
    agents = [tribal.agent(f"agent-{number}") for number in range(16)]
    barrier = threading.Barrier(16)

    def one(agent: Principal) -> Begun:
        barrier.wait()
        return begin(tribal, agent)

    with ThreadPoolExecutor(16) as pool:
        for _ in range(5):
            outcomes = sorted(found.outcome for found in pool.map(one, agents))
            assert outcomes == [BeginOutcome.BUSY] * 15 + [BeginOutcome.GRANTED]
            tribal.rows("DELETE FROM tributary.action")
            tribal.rows("DELETE FROM tributary.idempotency")


def test_without_the_unique_key_several_would_be_granted(tribal: Tribal) -> None:
    """The control of the one above: what it counts on is the database's constraint."""
    tribal.rows("ALTER TABLE tributary.action DROP CONSTRAINT action_once")
    tribal.rows("CREATE UNIQUE INDEX ON tributary.action (tribe_id, key, action_id)")
    tribal.rows(
        """DO $$ BEGIN EXECUTE replace(pg_get_functiondef('tributary.begin_action_v1'::regproc),
            'ON CONFLICT (tribe_id, key) DO', 'ON CONFLICT (tribe_id, key, action_id) DO'); END $$"""
    )
    assert [begin(tribal, tribal.curator).outcome for _ in range(2)] == [BeginOutcome.GRANTED] * 2


def test_of_equal_requests_at_once_both_get_the_same_lease(tribal: Tribal, writer: Principal) -> None:
    barrier = threading.Barrier(2)

    def one(_: int) -> Begun:
        barrier.wait()
        return begin(tribal, writer, under="k1")

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(one, range(2))
    assert first == second
    assert first.outcome is BeginOutcome.GRANTED


def test_a_repeat_gives_the_same_lease_again_only_while_the_attempt_runs(tribal: Tribal, writer: Principal) -> None:
    first = begin(tribal, writer, under="k1")
    assert begin(tribal, writer, under="k1") == first
    with pytest.raises(IdempotencyConflict):
        begin(tribal, writer, "another", under="k1")
    assert first.lease is not None
    tribal.memory.actions.fail(writer, first.action.action_id, first.lease, "the API refused it")
    with pytest.raises(WrongStanding, match="begin again under a new one"):
        begin(tribal, writer, under="k1")
    second = begin(tribal, tribal.curator, under="k2")
    assert second.action.attempt == 2
    assert begin(tribal, writer, under="k1").outcome is BeginOutcome.BUSY
    with pytest.raises(Forbidden, match="present attempt"):
        tribal.memory.actions.complete(writer, first.action.action_id, first.lease, None)
    tribal.clock.advance(seconds=61)
    assert begin(tribal, tribal.curator, under="k2").outcome is BeginOutcome.IN_DOUBT


def test_what_was_not_granted_is_not_kept_for_its_key(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, tribal.curator)
    assert begin(tribal, writer, under="k1").outcome is BeginOutcome.BUSY
    tribal.memory.actions.fail(tribal.curator, action.action_id, lease, "the API refused it")
    assert begin(tribal, writer, under="k1").outcome is BeginOutcome.GRANTED


def test_the_lease_is_stored_nowhere_in_clear(tribal: Tribal, writer: Principal) -> None:
    _, lease = held(tribal, writer)
    for table in ("action", "idempotency", "audit"):
        assert lease not in str(tribal.rows(f"SELECT t::text FROM tributary.{table} t"))


def test_a_lease_that_ran_out_puts_the_action_in_doubt_for_whoever_looks_and_reads_write_nothing(tribal: Tribal) -> None:
    action, _ = held(tribal, tribal.curator)
    tribal.clock.advance(seconds=60)
    seen = tribal.memory.actions.action(tribal.curator, action.action_id)
    assert (seen.state, seen.doubt) == (ActionState.IN_DOUBT, Doubt.LEASE_RAN_OUT)
    assert tribal.memory.actions.actions(tribal.curator, state=ActionState.IN_DOUBT).items == (seen,)
    assert tribal.memory.actions.actions(tribal.curator, state=ActionState.BEGUN).items == ()
    assert stored(tribal) == [{"state": "begun", "attempt": 1, "doubt": None}]
    assert begin(tribal, tribal.curator).outcome is BeginOutcome.IN_DOUBT
    assert stored(tribal) == [{"state": "in_doubt", "attempt": 1, "doubt": "lease_ran_out"}]


def test_the_gardener_writes_down_that_a_lease_ran_out(tribal: Tribal) -> None:
    held(tribal, tribal.curator)
    held(tribal, tribal.curator, "another")
    gardener = tribal.memory.gardener
    assert gardener.run(tribal.tribe_id).rule(Rule.DOUBT).done == 0
    tribal.clock.advance(seconds=60)
    running, _ = held(tribal, tribal.curator, "still running")
    assert gardener.run(tribal.tribe_id, dry_run=True).rule(Rule.DOUBT).done == 2
    assert {row["state"] for row in stored(tribal)} == {"begun"}
    report = gardener.run(tribal.tribe_id)
    assert (dict(report.rule(Rule.DOUBT).kinds), report.backlog.in_doubt) == ({"lease_ran_out": 2}, 2)
    assert sorted(str(row["state"]) for row in stored(tribal)) == ["begun", "in_doubt", "in_doubt"]
    assert tribal.memory.actions.action(tribal.curator, running.action_id).state is ActionState.BEGUN
    assert gardener.run(tribal.tribe_id).rule(Rule.DOUBT).done == 0


def test_a_renewed_lease_runs_on_and_one_that_ran_out_is_not_renewed(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    tribal.clock.advance(seconds=30)
    renewed = tribal.memory.actions.renew(writer, action.action_id, lease, lease_s=300, idempotency_key="k1")
    assert renewed.lease_until > action.lease_until
    tribal.clock.advance(seconds=200)
    assert tribal.memory.actions.action(writer, action.action_id).state is ActionState.BEGUN
    assert tribal.memory.actions.renew(writer, action.action_id, lease, lease_s=300, idempotency_key="k1") == renewed
    tribal.clock.advance(seconds=100)
    with pytest.raises(WrongStanding, match="in doubt, since its lease ran out"):
        tribal.memory.actions.renew(writer, action.action_id, lease)


@pytest.mark.parametrize("noticed", [False, True])
def test_the_holder_may_still_say_what_happened_after_its_lease_ran_out(tribal: Tribal, writer: Principal, noticed: bool) -> None:
    done, failed = held(tribal, writer, "done"), held(tribal, writer, "failed")
    tribal.clock.advance(seconds=61)
    if noticed:
        tribal.memory.gardener.run(tribal.tribe_id)
    completed = tribal.memory.actions.complete(writer, done[0].action_id, done[1], "ok").action
    assert (completed.state, completed.doubt, completed.result) == (ActionState.DONE, Doubt.LEASE_RAN_OUT, "ok")
    assert tribal.memory.actions.fail(writer, failed[0].action_id, failed[1], "refused").state is ActionState.FAILED


def test_a_holder_that_cannot_tell_leaves_the_action_in_doubt_at_once(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    unsure = tribal.memory.actions.fail(writer, action.action_id, lease, "it timed out", unsure=True)
    assert (unsure.state, unsure.doubt, unsure.failure) == (ActionState.IN_DOUBT, Doubt.HOLDER_UNSURE, "it timed out")
    assert begin(tribal, writer).outcome is BeginOutcome.IN_DOUBT


@pytest.mark.parametrize(("happened", "then"), [(True, BeginOutcome.DONE), (False, BeginOutcome.GRANTED)])
def test_a_curator_reconciles_both_ways(tribal: Tribal, writer: Principal, happened: bool, then: BeginOutcome) -> None:
    action, lease = held(tribal, writer)

    def reconcile(agent: Principal, **how: object) -> Action:
        result = {"seen": 1} if happened else None
        return tribal.memory.actions.reconcile(
            agent,
            action.action_id,
            happened=happened,
            result=result,
            rationale="the console shows it",
            **how,  # type: ignore[arg-type]
        )

    with pytest.raises(WrongStanding, match="under way"):
        reconcile(tribal.curator)
    tribal.clock.advance(seconds=61)
    with pytest.raises(Forbidden):
        reconcile(writer)
    ended = reconcile(tribal.curator, idempotency_key="k1")
    assert reconcile(tribal.curator, idempotency_key="k1") == ended
    assert ended.state is (ActionState.DONE if happened else ActionState.FAILED)
    assert (ended.reconciled_by, ended.note, ended.doubt) == ("curator", "the console shows it", Doubt.LEASE_RAN_OUT)
    with pytest.raises(WrongStanding, match=f"{ended.state} already"):
        tribal.memory.actions.complete(writer, action.action_id, lease, None)
    with pytest.raises(WrongStanding, match=f"{ended.state} already"):
        reconcile(tribal.curator)
    entries = tribal.memory.desk.audit(tribal.curator).items
    assert [one.action for one in entries] == ["reconciled"]
    begun = begin(tribal, writer)
    assert begun.outcome is then
    if not happened:
        assert (begun.action.attempt, begun.action.note, begun.action.doubt) == (2, None, None)


def test_a_rationale_that_the_screen_catches_reconciles_nothing(tribal: Tribal) -> None:
    action, lease = held(tribal, tribal.curator)
    tribal.memory.actions.fail(tribal.curator, action.action_id, lease, "lost", unsure=True)
    with pytest.raises(InvalidRequest, match="held back by the screen"):
        tribal.memory.actions.reconcile(tribal.curator, action.action_id, happened=True, rationale="HIJACK the reader")
    assert stored(tribal)[0]["state"] == "in_doubt"


def test_each_change_gives_its_first_reply_again_and_ends_only_once(tribal: Tribal, writer: Principal) -> None:
    actions = tribal.memory.actions
    action, lease = held(tribal, writer)
    first = actions.complete(writer, action.action_id, lease, 1, idempotency_key="k1")
    assert actions.complete(writer, action.action_id, lease, 1, idempotency_key="k1") == first
    with pytest.raises(IdempotencyConflict):
        actions.complete(writer, action.action_id, lease, 2, idempotency_key="k1")
    for ended in (
        lambda: actions.complete(writer, action.action_id, lease, 1),
        lambda: actions.fail(writer, action.action_id, lease, "no"),
        lambda: actions.renew(writer, action.action_id, lease),
    ):
        with pytest.raises(WrongStanding, match="done already"):
            ended()
    other, other_lease = held(tribal, writer, "other")
    failed = actions.fail(writer, other.action_id, other_lease, "no", idempotency_key="k2")
    assert actions.fail(writer, other.action_id, other_lease, "no", idempotency_key="k2") == failed


def test_of_completion_and_failure_at_once_one_wins(tribal: Tribal, writer: Principal) -> None:
    for number in range(5):
        action, lease = held(tribal, writer, f"k{number}")
        barrier = threading.Barrier(2)

        def attempt(change: Callable[..., object], word: str) -> bool:
            barrier.wait()  # noqa: B023  (called before the next round)
            try:
                change(writer, action.action_id, lease, word)  # noqa: B023  (as above)
            except WrongStanding:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = pool.submit(attempt, tribal.memory.actions.complete, "ok")
            failed = pool.submit(attempt, tribal.memory.actions.fail, "no")
            assert sorted([done.result(), failed.result()]) == [False, True]


def test_roles_and_leases_are_looked_at(tribal: Tribal, writer: Principal) -> None:
    reader = tribal.agent("reader", Role.READER)
    action, lease = held(tribal, writer)
    actions = tribal.memory.actions
    for refused in (
        lambda: begin(tribal, reader),
        lambda: actions.complete(reader, action.action_id, lease, None),
        lambda: actions.fail(reader, action.action_id, lease, "no"),
        lambda: actions.renew(reader, action.action_id, lease),
        lambda: actions.complete(writer, action.action_id, "lease_" + "0" * 64, None),
        lambda: actions.renew(writer, action.action_id, ""),
    ):
        with pytest.raises(Forbidden):
            refused()
    assert actions.action(reader, action.action_id).state is ActionState.BEGUN
    tribal.memory.agents.set_role(tribal.curator, writer.agent_id, Role.READER)
    for refused in (lambda: actions.complete(writer, action.action_id, lease, None), lambda: begin(tribal, writer, "another")):
        with pytest.raises(Forbidden):  # by the role that is stored now
            refused()
    second = tribal.agent("second", Role.CURATOR)
    tribal.memory.agents.set_role(tribal.curator, second.agent_id, Role.WRITER)
    with pytest.raises(Forbidden):
        actions.reconcile(second, action.action_id, happened=False, rationale="the console shows it")


def test_another_tribe_sees_nothing_of_it(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    with open_tribal(tribal.url, name="other") as other:
        assert begin(other, other.curator).outcome is BeginOutcome.GRANTED
        with pytest.raises(NotFound):
            other.memory.actions.action(other.curator, action.action_id)
        with pytest.raises(NotFound):
            other.memory.actions.complete(other.curator, action.action_id, lease, None)
        with pytest.raises(NotFound):
            other.memory.actions.complete(other.curator, action.action_id, lease, None, lesson=LESSON)
        assert tribal.memory.actions.action(writer, action.action_id) == action
        assert len(other.memory.actions.actions(other.curator).items) == 1


def test_what_is_in_doubt_is_listed_first_and_pages_leave_nothing_out(tribal: Tribal, writer: Principal) -> None:
    found = [held(tribal, writer, f"k{number}") for number in range(7)]
    for number in (1, 4):
        tribal.memory.actions.fail(writer, found[number][0].action_id, found[number][1], "?", unsure=True)
    tribal.memory.actions.complete(writer, found[6][0].action_id, found[6][1], None)
    seen: list[str] = []
    before = None
    for _ in range(4):
        page = tribal.memory.actions.actions(writer, limit=2, before=before)
        seen += [one.key for one in page.items]
        before = page.next_before
    assert seen == ["k4", "k1", "k6", "k5", "k3", "k2", "k0"]
    assert before is None
    assert [one.key for one in tribal.memory.actions.actions(writer, state=ActionState.DONE).items] == ["k6"]


@pytest.mark.parametrize("key", ["", " a", "a ", "a\nb", "x" * 201])
def test_a_key_that_is_none_is_refused(tribal: Tribal, key: str) -> None:
    with pytest.raises(InvalidRequest, match="printable"):
        begin(tribal, tribal.curator, key)


def test_a_key_is_the_same_however_its_accents_are_written(tribal: Tribal, writer: Principal) -> None:
    assert begin(tribal, writer, "mail:cafe\u0301").outcome is BeginOutcome.GRANTED
    again = begin(tribal, writer, "mail:caf\u00e9")
    assert (again.outcome, again.action.key) == (BeginOutcome.BUSY, "mail:caf\u00e9")


def nested(levels: int) -> object:
    result: object = 1
    for _ in range(levels):
        result = [result]
    return result


@pytest.mark.parametrize("result", [float("nan"), {1, 2}, "\x00", {"a": "\ud800"}, "x" * 16385, {"a": nested(64)}])
def test_a_result_that_is_no_json_value_is_refused(tribal: Tribal, result: object) -> None:
    action, lease = held(tribal, tribal.curator)
    with pytest.raises(InvalidRequest, match="result"):
        tribal.memory.actions.complete(tribal.curator, action.action_id, lease, result)
    assert stored(tribal)[0]["state"] == "begun"


def test_the_lesson_of_a_completion_is_learned_with_it(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    actions = tribal.memory.actions
    first = actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, idempotency_key="k1")
    assert first.learned is not None
    assert (first.action.state, first.learned.outcome, first.refused) == (ActionState.DONE, Outcome.LEARNED, None)
    again = actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, idempotency_key="k1")
    assert again.learned is not None
    assert (again.action, again.learned.lesson, again.learned.replayed) == (first.action, first.learned.lesson, True)
    assert tribal.status_counts() == {"active": 1}
    with pytest.raises(WrongStanding, match="done already"):
        actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, idempotency_key="k2")


def test_a_lesson_whose_action_cannot_be_completed_is_not_learned(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    with pytest.raises(Forbidden):
        tribal.memory.actions.complete(writer, action.action_id, "lease_" + "0" * 64, "ok", lesson=LESSON)
    tribal.memory.actions.fail(writer, action.action_id, lease, "no")
    with pytest.raises(WrongStanding):
        tribal.memory.actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON)
    assert tribal.status_counts() == {}
    assert tribal.memory.stats(tribal.curator).tick == 0


def test_a_lesson_that_is_refused_for_good_lets_the_action_be_completed(tribal: Tribal, writer: Principal) -> None:
    known = tribal.learn(tribal.curator, LESSON.text, LESSON.situation).lesson
    assert known is not None
    tribal.memory.curate.erase(tribal.curator, known.lesson_id)
    action, lease = held(tribal, writer)
    first = tribal.memory.actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, idempotency_key="k1")
    assert (first.action.state, first.learned) == (ActionState.DONE, None)
    assert isinstance(first.refused, WrongStanding)
    again = tribal.memory.actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, idempotency_key="k1")
    assert isinstance(again.refused, WrongStanding)
    assert tribal.status_counts() == {"erased": 1}


def test_a_lesson_without_time_to_be_judged_is_kept_as_pending_with_the_completion(tribal: Tribal, writer: Principal) -> None:
    action, lease = held(tribal, writer)
    completed = tribal.memory.actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON, wait=False)
    assert completed.learned is not None
    assert completed.learned.outcome is Outcome.PENDING
    assert tribal.memory.settle(tribal.tribe_id, deadline_s=10).done == 1
    lessons = tribal.memory.lessons(tribal.curator, status=Status.ACTIVE).lessons
    assert [one.text for one in lessons] == [LESSON.text]


def test_a_completion_is_replanned_with_its_lesson(database_url: str) -> None:
    """Another lesson is committed while this one is judged: it is judged anew, and completed once."""
    meanwhile: list[Callable[[], object]] = []

    def once() -> None:
        if meanwhile:
            meanwhile.pop()()

    judge = RuledJudge(all_unrelated, before=once)
    with open_tribal(database_url, judge=judge) as tribal:
        writer = tribal.agent("writer")
        tribal.learn(tribal.curator, "db-7 is old", LESSON.situation)
        action, lease = held(tribal, writer)
        meanwhile.append(lambda: tribal.learn(tribal.curator, "db-7 is slow to boot", LESSON.situation))
        completed = tribal.memory.actions.complete(writer, action.action_id, lease, "ok", lesson=LESSON)
        assert completed.learned is not None
        of_it = "SELECT replans FROM tributary.decision WHERE decision_id = %s"
        assert tribal.rows(of_it, completed.learned.decision_id) == [{"replans": 1}]
        assert completed.action.state is ActionState.DONE
