"""The ledger: every call of a model lands once, with tribe, agent, purpose and decision, at nobody's cost but the tribe's."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import copy_context
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.charging import ChargingEmbedder, ChargingJudge, ChargingScreen, call
from tests.doubles import SetClock, within_a_subject
from tests.gardens import garden, kinds
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.access import Ledger, ledger
from tributary.core.agent import Role
from tributary.core.costs import Budget, By
from tributary.core.curation import Ending, Mistake, RetireCause
from tributary.core.decision import Outcome
from tributary.core.errors import Forbidden, InvalidRequest
from tributary.core.garden import Rule
from tributary.core.ids import new_id
from tributary.core.lesson import CounterClaim, Draft
from tributary.core.spending import CallEnd, Purpose, account
from tributary.service import open_operator
from tributary.store import Database, Target

PATIENCE_S = 30
SUBJECT = "deploy-api"


def written(tribal: Tribal) -> list[dict[str, object]]:
    return tribal.rows("SELECT * FROM tributary.model_call ORDER BY at, call_id")


def purposes(tribal: Tribal, agent_id: UUID | None) -> list[str]:
    """Returns what an agent's calls were for, and forgets them."""
    found = tribal.rows("DELETE FROM tributary.model_call RETURNING agent_id, tribe_id, purpose")
    assert {row["tribe_id"] for row in found} <= {tribal.tribe_id}
    assert {row["agent_id"] for row in found} <= {agent_id}
    return sorted(str(row["purpose"]) for row in found)


@pytest.fixture
def costly(database_url: str) -> Iterator[Tribal]:
    """A tribe all of whose models are over a wire."""
    judge = ChargingJudge("judge/1", within_a_subject)
    with open_tribal(database_url, embedder=ChargingEmbedder(), screen=ChargingScreen(), judge=judge) as opened:
        yield opened


# -- every door


def test_a_learn_is_charged_to_its_agent_and_its_decision(costly: Tribal) -> None:
    writer = costly.agent("writer")
    first = costly.learn(writer, "the header is X", subject=SUBJECT)
    second = costly.learn(writer, "the header is Y", subject=SUBJECT)
    found = written(costly)
    assert {(row["agent_id"], row["tribe_id"]) for row in found} == {(writer.agent_id, costly.tribe_id)}
    by_decision = {
        decision: [r["purpose"] for r in found if r["decision_id"] == decision]
        for decision in (first.decision_id, second.decision_id)
    }
    assert sorted(map(str, by_decision[first.decision_id]))[-1] == "screen"
    assert sorted(map(str, by_decision[second.decision_id])) == ["embed", "judge", "screen"]
    assert len(found) == sum(map(len, by_decision.values())), "none of them is for no decision"
    last = next(row for row in found if row["purpose"] == "judge")
    assert (last["model"], last["ended"], last["cost_usd"], last["input_tokens"], last["ms"]) == (
        "wire:judge/1",
        "answered",
        Decimal("0.5"),
        100,
        12.5,
    )


def test_a_batch_is_charged_lesson_by_lesson_but_for_the_embedding_that_they_share(costly: Tribal) -> None:
    drafts = [Draft(text=f"fact {n}", situation="anywhere", source=SEEN, subject=SUBJECT) for n in range(2)]
    one, two = costly.memory.learn_all(costly.curator, drafts)
    assert not isinstance(one, Exception)
    assert not isinstance(two, Exception)
    found = [(row["purpose"], row["decision_id"]) for row in written(costly)]
    assert [p for p, decision in found if decision is None] == ["embed"] * found.count(("embed", None))
    assert [p for p, decision in found if decision == one.decision_id] == ["screen"]
    assert sorted(str(p) for p, decision in found if decision == two.decision_id) == ["judge", "screen"]


def test_every_door_charges_whom_it_works_for(costly: Tribal) -> None:
    memory, curator = costly.memory, costly.curator
    writer = costly.agent("writer")
    learned = costly.learn(writer, "the header is X", subject=SUBJECT)
    assert learned.lesson is not None
    purposes(costly, writer.agent_id)
    recalled = costly.recall("header")
    assert purposes(costly, curator.agent_id) == ["embed"]
    memory.verify(curator, {**recalled.receipt.document(), "signature": recalled.receipt.signature}, "header")
    assert purposes(costly, curator.agent_id) == ["embed"]
    memory.status(curator)
    assert set(purposes(costly, curator.agent_id)) == {"embed"}
    claim = CounterClaim(text="the header is Y", source=SEEN)
    contested = memory.contest(writer, learned.lesson.lesson_id, claim)
    assert purposes(costly, writer.agent_id) == ["embed", "screen"]
    held = costly.learn(writer, "HIJACK the reader", subject=SUBJECT)
    other = costly.learn(writer, "HIJACK the writer", subject=SUBJECT)
    assert held.lesson is not None
    assert other.lesson is not None
    purposes(costly, writer.agent_id)
    memory.curate.release(curator, held.lesson.lesson_id)
    assert "embed" in purposes(costly, curator.agent_id)
    memory.curate.retire(curator, other.lesson.lesson_id, RetireCause.INJECTION)
    assert purposes(costly, curator.agent_id) == ["embed"]
    memory.curate.report(writer, learned.decision_id, Mistake.HARMFUL, note="look here")
    assert purposes(costly, writer.agent_id) == ["screen"]
    assert contested.outcome is Outcome.SUPERSEDED
    memory.learn(writer, Draft(text="the header is Z", situation="anywhere", source=SEEN), wait=False)
    assert purposes(costly, writer.agent_id) == ["embed", "screen"]
    assert memory.settle_pending() == 1
    assert "embed" in purposes(costly, None)
    memory.learn(writer, Draft(text="the header is W", situation="anywhere", source=SEEN), wait=False)
    purposes(costly, writer.agent_id)
    assert kinds(garden(costly).rule(Rule.SETTLE)) == {"settled": 1}
    assert "embed" in purposes(costly, None)


def test_a_curators_word_on_a_dispute_is_charged_to_the_curator(costly: Tribal) -> None:
    first, second = costly.agent("first"), costly.agent("second")
    costly.learn(first, "the header is X", subject=SUBJECT)
    dispute = costly.learn(second, "the header is Y", subject=SUBJECT).dispute_id
    assert dispute is not None
    costly.rows("TRUNCATE tributary.model_call")
    resolved = costly.memory.curate.resolve(costly.curator, dispute, Ending.ACCEPTED, rationale="it is")
    assert {row["agent_id"] for row in written(costly)} == {costly.curator.agent_id}
    assert {row["decision_id"] for row in written(costly)} == {resolved.decision_id}


def test_what_the_operator_embeds_is_charged_to_the_tribe(costly: Tribal) -> None:
    costly.learn(costly.curator, "the header is X")
    costly.rows("TRUNCATE tributary.model_call")
    costly.rows("DELETE FROM tributary.lesson_vector")
    with open_operator(costly.settings, adapters=costly.adapters) as operator:
        serving = next(one.name for one in operator.spaces(costly.name))
        operator.build_space(costly.name, serving)
    assert set(purposes(costly, None)) == {"embed"}


# -- the books


def books(tribal: Tribal, budget: Budget | None = None, **more: object) -> Ledger:
    return Ledger(tribal.memory.database, budget, **more)  # type: ignore[arg-type]  # the test's own keywords


def days(tribal: Tribal) -> list[tuple[str, int, int, int, Decimal]]:
    found = tribal.rows(
        "SELECT day::text, sum(calls) c, sum(failed) f, sum(unpriced) u, sum(cost_usd) d "
        "FROM tributary.model_day GROUP BY 1 ORDER BY 1"
    )
    return [(str(r["day"]), int(str(r["c"])), int(str(r["f"])), int(str(r["u"])), Decimal(str(r["d"]))) for r in found]


def test_a_flush_whose_acknowledgement_was_lost_counts_once(tribal: Tribal) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    entries = [ledger._entry(tribal.tribe_id, None, call(at=at)) for _ in range(3)]
    books(tribal).hand_over(entries)
    books(tribal).hand_over(entries[1:])
    assert days(tribal) == [("2026-03-01", 3, 0, 0, Decimal("0.75"))]
    assert len(written(tribal)) == 3


def test_a_flush_whose_backend_is_killed_is_sent_again_and_counts_once(tribal: Tribal) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    book = books(tribal)
    with psycopg.connect(tribal.url) as holder:
        holder.execute("LOCK TABLE tributary.model_day IN ACCESS EXCLUSIVE MODE")

        def work() -> None:
            with book.on(tribal.tribe_id):
                account().charge(call(at=at))

        worker = threading.Thread(target=work)
        worker.start()
        killed = wait_for(
            lambda: tribal.rows(
                "SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE '%%charge_calls%%' AND wait_event_type = 'Lock'"
            )
        )
        assert killed == [{"gone": True}]
        holder.rollback()
        worker.join()
    assert days(tribal) == [("2026-03-01", 1, 0, 0, Decimal("0.25"))]


def wait_for(look: Callable[[], list[dict[str, object]]]) -> list[dict[str, object]]:
    until = time.monotonic() + PATIENCE_S
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.01)
    return found


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_cannot_be_written_is_told_kept_and_written_when_the_writer_is_back(
    tribal: Tribal, caplog: pytest.LogCaptureFixture
) -> None:
    where = [Target(url="postgresql://nobody@127.0.0.1:1/none")]
    clock = Time()
    database = Database(lambda: where[0])
    book = Ledger(database, clock=clock)
    for _ in range(2):
        with book.on(tribal.tribe_id):
            account().charge(call())
    (told,) = [record for record in caplog.records if record.message == "ledger.delayed"]
    assert (vars(told)["fields"]["code"], vars(told)["fields"]["calls"]) == ("unavailable", 1), "the second did not even try"
    where[0] = Target(url=tribal.url)
    book.flush()
    assert written(tribal) == [], "it was away a moment ago"
    clock.now += ledger.AWAY_S
    book.flush()
    assert len(written(tribal)) == 2
    book.flush()
    assert [row[1] for row in days(tribal)] == [2]
    database.close()


def test_the_last_flush_tries_all_the_same(tribal: Tribal) -> None:
    where = [Target(url="postgresql://nobody@127.0.0.1:1/none")]
    database = Database(lambda: where[0])
    book = Ledger(database, clock=Time())
    with book.on(tribal.tribe_id):
        account().charge(call())
    where[0] = Target(url=tribal.url)
    book.flush(at_last=True)
    assert len(written(tribal)) == 1
    database.close()


def test_on_a_server_that_takes_no_writes_calls_are_kept(tribal: Tribal) -> None:
    database = Database(Target(url=f"{tribal.url}&options=-c%20default_transaction_read_only%3Don"))
    book = Ledger(database)
    with book.on(tribal.tribe_id):
        account().charge(call())
    assert (written(tribal), len(book._kept)) == ([], 1)
    database.close()


def test_what_waits_is_bounded_and_the_oldest_are_given_up(tribal: Tribal, caplog: pytest.LogCaptureFixture) -> None:
    book = books(tribal)
    entries = [ledger._entry(tribal.tribe_id, None, call()) for _ in range(ledger.MOST + 1)]
    book.keep(entries)
    book.flush()
    assert len(written(tribal)) == ledger.MOST
    assert entries[0].document["call_id"] not in {str(row["call_id"]) for row in written(tribal)}
    assert [vars(one)["fields"]["calls"] for one in caplog.records if one.message == "ledger.lost"] == [1]


def test_a_call_that_the_database_refuses_keeps_no_other_from_being_written(
    tribal: Tribal, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [ledger._entry(tribal.tribe_id, None, call()) for _ in range(5)]
    entries[2].document["ended"] = "vanished"
    book = books(tribal)
    book.hand_over(entries)
    assert (len(written(tribal)), book._kept) == (4, [])
    assert [vars(one)["fields"]["code"] for one in caplog.records if one.message == "ledger.lost"] == ["corrupt"]


def test_a_figure_that_a_provider_got_wrong_counts_as_not_said(tribal: Tribal) -> None:
    with books(tribal).on(tribal.tribe_id):
        account().charge(call(cost="NaN", tokens=(-1, 2**70), model="a\x00b\ud800"))
        account().charge(call(cost="-1", tokens=(None, None)))
    assert {(r["cost_usd"], r["input_tokens"], r["output_tokens"]) for r in written(tribal)} == {(None, None, None)}
    assert "a?b?" in {row["model"] for row in written(tribal)}
    assert [row[3] for row in days(tribal)] == [2], "what it cost, nobody knows"


def test_threads_that_charge_at_once_lose_nothing(tribal: Tribal) -> None:
    book = books(tribal)

    def work() -> None:
        for _ in range(5):
            with book.on(tribal.tribe_id):
                contexts = [copy_context() for _ in range(4)]
                calls = [threading.Thread(target=one.run, args=(lambda: account().charge(call()),)) for one in contexts]
                for one in calls:
                    one.start()
                for one in calls:
                    one.join()

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(written(tribal)) == sum(row[1] for row in days(tribal)) == 32 * 5 * 4


def test_a_call_that_outlives_its_work_is_written_with_the_next(tribal: Tribal) -> None:
    book = books(tribal)
    with book.on(tribal.tribe_id):
        late = copy_context()
    late.run(lambda: account().charge(call()))
    assert written(tribal) == []
    book.flush()
    assert len(written(tribal)) == 1


def test_work_that_calls_very_often_is_written_down_before_its_end(tribal: Tribal) -> None:
    with books(tribal).on(tribal.tribe_id):
        for _ in range(ledger.EARLY):
            account().charge(call())
        assert len(written(tribal)) == ledger.EARLY


def test_work_within_work_for_the_same_tribe_is_on_one_account(tribal: Tribal) -> None:
    book = books(tribal)
    asking, other_tribe = uuid4(), uuid4()
    with book.on(tribal.tribe_id, asking):
        with book.on(tribal.tribe_id, uuid4()):
            account().charge(call())
        assert written(tribal) == []
        with book.on(other_tribe):
            account().charge(call())
    assert {(row["tribe_id"], row["agent_id"]) for row in written(tribal)} == {(tribal.tribe_id, asking), (other_tribe, None)}


def test_days_are_those_of_utc(tribal: Tribal) -> None:
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    with books(tribal).on(tribal.tribe_id):
        account().charge(call(at=midnight - timedelta(microseconds=1)))
        account().charge(call(at=midnight))
        account().charge(call(at=datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2))), end=CallEnd.THROTTLED, cost=None))
    assert days(tribal) == [("2026-03-01", 2, 1, 0, Decimal("0.25")), ("2026-03-02", 1, 0, 0, Decimal("0.25"))]


# -- budgets


@pytest.mark.parametrize("budget", [Budget(calls_per_day=4), Budget(usd_per_day=Decimal(1))])
def test_a_budget_counts_what_everybody_spent_today(tribal: Tribal, budget: Budget) -> None:
    clock, time_ = SetClock(), Time()
    mine, others = books(tribal, budget, now=clock, clock=time_), books(tribal, now=clock)
    assert mine.may_spend(tribal.tribe_id)
    with mine.on(tribal.tribe_id):
        account().charge(call())
        account().charge(call())
        assert account().may_spend()
    assert mine.may_spend(tribal.tribe_id)
    with others.on(tribal.tribe_id):
        account().charge(call())
    with mine.on(tribal.tribe_id):
        assert account().may_spend()
        account().charge(call())
        time_.now += ledger.FRESH_S
        assert not account().may_spend(), "three written down, and one that is not yet"
    assert not mine.may_spend(tribal.tribe_id)
    assert mine.may_spend(uuid4()), "the others' budgets are their own"
    clock.advance(days=1)
    assert mine.may_spend(tribal.tribe_id)


def test_a_call_without_a_price_counts_as_a_call_only(tribal: Tribal) -> None:
    money, calls = books(tribal, Budget(usd_per_day=Decimal("0.01"))), books(tribal, Budget(calls_per_day=1))
    for book in (money, calls):
        with book.on(tribal.tribe_id):
            account().charge(call(cost=None))
    assert (money.may_spend(tribal.tribe_id), calls.may_spend(tribal.tribe_id)) == (True, False)


def test_what_was_spent_is_read_now_and_then_only(tribal: Tribal) -> None:
    time_ = Time()
    book = books(tribal, Budget(calls_per_day=2), clock=time_)
    with book.on(tribal.tribe_id):
        assert account().may_spend()
        tribal.rows("ALTER FUNCTION tributary.spent_v1(uuid, date) RENAME TO away_v1")
        assert account().may_spend()
        time_.now += ledger.FRESH_S
        assert not account().may_spend(), "what cannot be read is not spent on"


def test_where_it_cannot_be_read_what_was_spent_nothing_is_granted(tribal: Tribal) -> None:
    nowhere = Database(Target(url="postgresql://nobody@127.0.0.1:1/nothing"))
    try:
        assert Ledger(nowhere, Budget(calls_per_day=10)).reserve(tribal.tribe_id, 4) == 0
        assert Ledger(nowhere).reserve(tribal.tribe_id, 4) == 4, "without a budget nothing has to be read"
    finally:
        nowhere.close()


def test_no_budget_is_no_limit_and_none_at_all_is_always_spent(tribal: Tribal) -> None:
    assert books(tribal).may_spend(tribal.tribe_id)
    assert not books(tribal, Budget(calls_per_day=0)).may_spend(tribal.tribe_id)
    assert not books(tribal, Budget(usd_per_day=Decimal(0))).may_spend(tribal.tribe_id)


def test_what_is_set_aside_is_nobody_elses_until_it_is_given_back(tribal: Tribal) -> None:
    book = books(tribal, Budget(calls_per_day=5))
    with book.on(tribal.tribe_id):
        account().charge(call())
        with account().reserve(3) as granted:
            assert granted == 3
            assert book.reserve(tribal.tribe_id, 4) == 1, "one is charged and three are set aside"
            assert not book.may_spend(tribal.tribe_id)
            assert book.reserve(uuid4(), 4) == 4, "the others' budgets are their own"
            book.give_back(tribal.tribe_id, 1)
            account().charge(call(Purpose.STRONG_JUDGE))
            assert book.reserve(tribal.tribe_id, 4) == 1, "a call that was set aside counts once"
            book.give_back(tribal.tribe_id, 1)
            account().charge(call(Purpose.JUDGE))
            assert not account().may_spend(), "another one was not set aside"
        assert book.reserve(tribal.tribe_id, 4) == 2


def test_what_is_set_aside_is_taken_to_cost_what_the_dearest_did(tribal: Tribal) -> None:
    clock = SetClock()
    book = books(tribal, Budget(usd_per_day=Decimal(1)), now=clock)
    with book.on(tribal.tribe_id):
        with account().reserve(2) as granted:
            assert granted == 2
            account().charge(call(Purpose.STRONG_JUDGE, cost="0.2", at=clock()))
            account().charge(call(Purpose.STRONG_JUDGE, cost="0.1", at=clock()))
        with account().reserve(9) as granted:
            assert granted == 4, "0.7 dollars are left, and one may cost 0.2: the last may cost more than is left"
            assert book.reserve(tribal.tribe_id, 1) == 0
    clock.advance(days=1)
    assert book.reserve(tribal.tribe_id, 9) == 9, "no call of this day is known"


def test_a_reservation_ends_with_its_work_even_when_that_fails(tribal: Tribal) -> None:
    book = books(tribal, Budget(calls_per_day=2))

    def fail() -> None:
        with book.on(tribal.tribe_id), account().reserve(2):
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        fail()
    assert book.reserve(tribal.tribe_id, 2) == 2


@pytest.mark.parametrize(
    ("cost", "kept"),
    [
        ("0E-1000026", "0"),
        ("1E-20000", "0"),
        ("1E-300", "0"),
        ("0.0000000000019", "0.000000000002"),
        ("1E+1", "10"),
        ("1E+20000", None),
        ("1000000.1", None),
        ("-1E-20000", None),
        ("sNaN", None),
    ],
)
def test_no_cost_that_a_provider_says_loses_calls(tribal: Tribal, cost: str, kept: str | None) -> None:
    with books(tribal).on(tribal.tribe_id):
        account().charge(call(cost=cost))
        account().charge(call(cost="0.25"))
    found = [row["cost_usd"] for row in tribal.rows("SELECT cost_usd FROM tributary.model_call")]
    assert Counter(found) == Counter([None if kept is None else Decimal(kept), Decimal("0.25")])
    assert days(tribal)[0][4] == Decimal(kept or 0) + Decimal("0.25")


# -- what curators are told


def test_costs_are_told_by_day_purpose_model_and_agent(database_url: str) -> None:
    with open_tribal(database_url, budget_calls_per_day=100, budget_usd_per_day="2.5") as tribal:
        today = datetime.now(UTC)
        ann = tribal.agent("ann")
        book = books(tribal)
        with book.on(tribal.tribe_id, ann.agent_id):
            account().charge(call(Purpose.EMBED, model="m:e", at=today, cost="0.10"))
            account().charge(call(Purpose.JUDGE, model="m:j", at=today, cost=None))
        with book.on(tribal.tribe_id):
            account().charge(call(Purpose.JUDGE, model="m:j", at=today - timedelta(days=2), end=CallEnd.TIMED_OUT, cost=None))
            account().charge(call(Purpose.JUDGE, model="m:p", at=today - timedelta(days=2), cost="1.5"))
            account().charge(call(Purpose.JUDGE, model="m:p", at=today - timedelta(days=40), cost="7"))
        with book.on(new_id()):
            account().charge(call(cost="1000"))
        by = {one: tribal.memory.costs(tribal.curator, by=one) for one in By}
        assert {tuple((c.key, c.calls) for c in found.rows) for one, found in by.items() if one is By.PURPOSE} == {
            (("judge", 3), ("embed", 1))
        }
        assert [(c.key, c.calls, c.failed, c.unpriced, c.cost_usd) for c in by[By.MODEL].rows] == [
            ("m:p", 1, 0, 0, Decimal("1.5")),
            ("m:e", 1, 0, 0, Decimal("0.10")),
            ("m:j", 2, 1, 2, Decimal(0)),
        ]
        assert [(c.name, c.calls) for c in by[By.AGENT].rows] == [(None, 2), ("ann", 2)]
        assert [c.calls for c in by[By.DAY].rows] == [2, 2]
        assert [c.key for c in by[By.DAY].rows] == sorted(c.key for c in by[By.DAY].rows)
        total = by[By.DAY].total
        assert (total.calls, total.failed, total.unpriced, total.cost_usd) == (4, 1, 2, Decimal("1.60"))
        assert (total.input_tokens, total.output_tokens) == (400, 40)
        assert by[By.DAY].unpriced_models == ("m:j",)
        assert (by[By.DAY].today.calls, by[By.DAY].today.cost_usd) == (2, Decimal("0.10"))
        assert by[By.DAY].budget == Budget(calls_per_day=100, usd_per_day=Decimal("2.5"))
        two_days_ago = (today - timedelta(days=2)).date()
        only = tribal.memory.costs(tribal.curator, since=two_days_ago, until=two_days_ago)
        assert [(c.key, c.calls) for c in only.rows] == [(two_days_ago.isoformat(), 2)]
        nothing = tribal.memory.costs(tribal.curator, since=two_days_ago, until=two_days_ago + timedelta(days=1), by=By.AGENT)
        assert nothing.total.calls == 2


def test_costs_of_a_tribe_that_called_no_model_are_nothing(tribal: Tribal) -> None:
    found = tribal.memory.costs(tribal.curator)
    assert (found.rows, found.total.calls, found.total.cost_usd, found.unpriced_models) == ((), 0, Decimal(0), ())
    assert (found.until - found.since).days == 29


def test_costs_are_a_curators_by_the_role_that_is_stored(tribal: Tribal) -> None:
    with pytest.raises(Forbidden):
        tribal.memory.costs(tribal.agent("writer"))
    deputy = tribal.agent("deputy", Role.CURATOR)
    tribal.memory.costs(deputy)
    tribal.memory.agents.set_role(tribal.curator, deputy.agent_id, Role.WRITER)
    with pytest.raises(Forbidden):
        tribal.memory.costs(deputy)


def test_days_in_the_wrong_order_or_too_many_are_refused(tribal: Tribal) -> None:
    today = datetime.now(UTC).date()
    with pytest.raises(InvalidRequest, match="later than"):
        tribal.memory.costs(tribal.curator, since=today, until=today - timedelta(days=1))
    with pytest.raises(InvalidRequest, match="400 days"):
        tribal.memory.costs(tribal.curator, since=today - timedelta(days=400), until=today)
    assert tribal.memory.costs(tribal.curator, since=today - timedelta(days=399), until=today).rows == ()


# -- how long it is kept


def test_single_calls_are_forgotten_after_ninety_days_and_their_sums_stay(tribal: Tribal) -> None:
    with books(tribal).on(tribal.tribe_id):
        account().charge(call(at=datetime.now(UTC) - timedelta(days=91)))
        account().charge(call(at=datetime.now(UTC) - timedelta(days=89)))
    assert kinds(garden(tribal).rule(Rule.PRUNE)) == {"model_call": 1}
    assert garden(tribal).idle
    assert (len(written(tribal)), sum(row[1] for row in days(tribal))) == (1, 2)


def test_what_a_call_cost_outlives_the_lesson_that_it_was_made_for(costly: Tribal) -> None:
    learned = costly.learn(costly.curator, "the header is X", subject=SUBJECT)
    assert learned.lesson is not None
    before = written(costly)
    costly.memory.curate.erase(costly.curator, learned.lesson.lesson_id)
    assert written(costly) == before


def test_the_runtime_role_writes_and_reads_the_books_by_functions_only(tribal: Tribal) -> None:
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET ROLE tributary_runtime")
        for statement in ("SELECT * FROM tributary.model_call", "DELETE FROM tributary.model_day"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
