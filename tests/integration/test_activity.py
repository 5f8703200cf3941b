"""How busy a tribe was: counts by the hour, whose they are, and what they cost to read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import psycopg
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, within_a_subject
from tests.gardens import garden, kinds
from tests.tribes import Tribal, open_tribal
from tributary.core.activity import BOUNDS_MS, Activity, Every, bin_of
from tributary.core.agent import Principal, Role
from tributary.core.curation import Ending
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.errors import Forbidden, InvalidRequest
from tributary.core.evaluation import Evaluation, EvaluationRun
from tributary.core.garden import Rule
from tributary.core.ids import new_id
from tributary.core.receipt import Coverage
from tributary.core.spending import CallEnd, ModelCall, Purpose, account
from tributary.models.embedders import HashedEmbedder
from tributary.models.judges import TieredJudge
from tributary.service import open_memory, open_operator


def found(tribal: Tribal, hours: int = 24, who: Principal | None = None) -> Activity:
    tribal.memory.timekeeper.flush()
    return tribal.memory.activity(who or tribal.curator, hours=hours)


def half_past(tribal: Tribal) -> datetime:
    """Sets the clock to the middle of the hour that comes next, and returns when that hour began."""
    hour = Every.HOUR.start(tribal.clock()) + timedelta(hours=1)
    tribal.clock.advance(seconds=(hour + timedelta(minutes=30) - tribal.clock()).total_seconds())
    return hour


def move_events(tribal: Tribal, ticks: tuple[int, ...], at: datetime) -> None:
    """Has ticks have happened at another instant."""
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        for table in ("lesson_event", "tribe_event"):
            connection.execute(f"ALTER TABLE tributary.{table} DISABLE TRIGGER USER".encode())
            connection.execute(f"UPDATE tributary.{table} SET at = %s WHERE tick = ANY (%s)".encode(), (at, list(ticks)))


def spend(tribal: Tribal, purpose: Purpose, model: str, ms: float, at: datetime | None = None, **more: object) -> None:
    call = ModelCall(purpose=purpose, model=model, at=at or tribal.clock(), ms=ms, end=CallEnd.ANSWERED)
    with tribal.memory.ledger.on(tribal.tribe_id):
        account().charge(replace(call, **more))  # type: ignore[arg-type]  # the test's own keywords


# -- what is counted, and when


def test_recalls_and_learns_count_in_the_hour_in_which_they_were_answered(tribal: Tribal) -> None:
    hour = half_past(tribal)
    tribal.learn(tribal.curator, "the cache is warm")
    tribal.recall("cache")
    tribal.clock.advance(hours=1)
    tribal.recall("cache")
    tribal.recall("cache")
    seen = found(tribal, hours=3)
    assert [(one.start, one.recalls) for one in seen.buckets] == [
        (hour - timedelta(hours=1), {}),
        (hour, {Coverage.COMPLETE: 1}),
        (hour + timedelta(hours=1), {Coverage.COMPLETE: 2}),
    ]
    assert (seen.recall.calls, seen.learn.calls) == (3, 1)
    assert (found(tribal, hours=1).recall.calls, found(tribal, hours=1).learn.calls) == (2, 0)
    (today, *_) = reversed(found(tribal, hours=73).buckets)
    assert today.start == Every.DAY.start(tribal.clock())
    assert found(tribal, hours=73).recall.calls == 3


def test_events_and_ticks_on_an_hours_border_belong_to_the_hour_that_begins(tribal: Tribal) -> None:
    for number in range(3):
        tribal.learn(tribal.curator, f"fact {number} of its own", subject=f"subject {number}")
    hour = half_past(tribal)
    move_events(tribal, (1,), hour - timedelta(microseconds=1))
    move_events(tribal, (2, 3), hour)
    before, now = found(tribal, hours=2).buckets
    assert (before.ticks, before.events) == (1, {"learned": 1})
    assert (now.ticks, now.events) == (2, {"learned": 2})
    tribal.clock.advance(hours=1)
    assert [one.ticks for one in found(tribal, hours=2).buckets] == [2, 0]


def test_an_answer_of_unknown_coverage_is_counted_as_such(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        tribal.learn(tribal.curator, "the cache is warm")
        tribal.recall("cache")
        embedder.fails = True
        tribal.recall("cache")
        seen = [(coverage, calls) for one in found(tribal).buckets for coverage, calls in one.recalls.items()]
        assert sorted(seen) == [(Coverage.COMPLETE, 1), (Coverage.UNKNOWN, 1)]


def test_conflicts_count_by_how_they_were_settled_each_once(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        first, second = tribal.agent("first"), tribal.agent("second")
        tribal.learn(first, "the port is 80", subject="port")
        assert tribal.learn(first, "the port is 81", subject="port").outcome is Outcome.SUPERSEDED
        endings = (Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND, Ending.REJECTED)
        for number, ending in enumerate(endings):
            tribal.learn(first, f"limit {number} is 5", subject=f"limit {number}")
            disputed = tribal.learn(second, f"limit {number} is 6", subject=f"limit {number}").dispute_id
            assert disputed is not None
            tribal.memory.curate.resolve(tribal.curator, disputed, ending, rationale="looked at")
        settled = found(tribal).conflicts
    assert (settled.replaced, settled.accepted, settled.rejected, settled.both_stand, settled.total) == (1, 1, 2, 1, 5)


def test_pairs_are_counted_with_those_that_the_strong_judge_was_asked_about_and_could_afford(database_url: str) -> None:
    judge = TieredJudge(cheap=RuledJudge(within_a_subject), strong=RuledJudge(within_a_subject))
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "the port is 80", subject="port")
        tribal.learn(tribal.curator, "the port is 81", subject="port")  # one pair, a conflict
        tribal.learn(tribal.curator, "the port is 81 by the way", subject="other")  # at least one, unrelated to both
        models = found(tribal).models
        assert models is not None
        assert (models.judging.escalated, models.judging.pairs >= 2) == (1, True)
    assert models.judging.escalation_rate == 1 / models.judging.pairs


def test_a_pair_that_no_judge_answered_about_or_that_waits_for_a_budget_is_not_escalated(database_url: str) -> None:
    judge = TieredJudge(cheap=RuledJudge(lambda _new, _old: VerdictKind.UNSURE), strong=RuledJudge(within_a_subject))
    with open_tribal(database_url, judge=judge, budget_calls_per_day=0) as tribal:
        tribal.learn(tribal.curator, "the port is 80", subject="port")
        tribal.learn(tribal.curator, "the port is 81", subject="port")
        models = found(tribal).models
    assert models is not None
    assert (models.judging.pairs, models.judging.escalated, models.judging.escalation_rate) == (0, 0, None)


def test_what_a_killed_process_had_not_handed_over_is_lost_and_no_more(tribal: Tribal) -> None:
    memory = open_memory(tribal.settings, adapters=tribal.adapters)
    killed = replace(tribal, memory=memory)
    killed.recall("cache")
    memory.timekeeper.flush()
    killed.recall("cache")
    memory.databases.close()  # as when it is killed: nothing is handed over any more
    assert found(tribal).recall.calls == 1


# -- calls of models


def test_a_curator_sees_calls_of_models_by_purpose_and_model_within_the_hours_and_others_none(tribal: Tribal) -> None:
    spend(tribal, Purpose.JUDGE, "cheap", 12.0, input_tokens=100)
    spend(tribal, Purpose.JUDGE, "cheap", 15.0)
    spend(tribal, Purpose.STRONG_JUDGE, "strong", 90_000.0, cost_usd=Decimal("0.5"))
    spend(tribal, Purpose.JUDGE, "cheap", 1.0, end=CallEnd.FAILED)
    spend(tribal, Purpose.JUDGE, "cheap", 1.0, at=tribal.clock() - timedelta(hours=30))
    models = found(tribal).models
    assert models is not None
    strong, cheap = models.calls
    assert (strong.purpose, strong.latency.counts[-1], float(strong.cost_usd), strong.unpriced) == ("strong_judge", 1, 0.5, 0)
    assert (cheap.latency.calls, cheap.failed, cheap.unpriced, cheap.input_tokens) == (3, 1, 2, 100)
    assert {number for number, calls in enumerate(cheap.latency.counts) if calls} == {bin_of(1.0), bin_of(12.0), bin_of(15.0)}
    for role in (Role.READER, Role.WRITER):
        assert found(tribal, who=tribal.agent(role.value, role)).models is None
    wider = found(tribal, hours=48).models
    assert wider is not None
    assert sum(one.latency.calls for one in wider.calls) == 5


def test_the_database_puts_a_latency_into_the_same_bin_as_the_process(tribal: Tribal) -> None:
    near = [ms + by for ms in BOUNDS_MS for by in (-0.01, 0.0, 0.01)]
    rows = tribal.rows("SELECT width_bucket(m, %s::float8[]) AS bin FROM unnest(%s::float8[]) AS m", list(BOUNDS_MS), near)
    assert [row["bin"] for row in rows] == [bin_of(ms) for ms in near]


# -- whose it is


def test_a_tribe_is_told_nothing_of_another(tribal: Tribal) -> None:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        other = tribal.memory.authenticate(operator.create_tribe("other").token.secret)
    tribal.learn(tribal.curator, "the cache is warm")
    tribal.recall("cache")
    spend(tribal, Purpose.JUDGE, "cheap", 12.0)
    theirs = found(tribal, who=other)
    assert not any(one.ticks or one.events or one.recalls for one in theirs.buckets)
    assert (theirs.recall.calls, theirs.learn.calls, theirs.conflicts.total) == (0, 0, 0)
    assert theirs.models is not None
    assert theirs.models.calls == ()


def test_a_revoked_agent_is_told_nothing_and_bad_hours_are_refused(tribal: Tribal) -> None:
    leaver = tribal.agent("leaver", Role.READER)
    tribal.memory.agents.revoke(tribal.curator, leaver.agent_id)
    with pytest.raises(Forbidden):
        tribal.memory.activity(leaver)
    for hours in (0, 745):
        with pytest.raises(InvalidRequest):
            tribal.memory.activity(tribal.curator, hours=hours)


# -- what it costs, and for how long it is kept


def test_counts_of_an_hour_are_forgotten_after_32_days(tribal: Tribal) -> None:
    half_past(tribal)
    tribal.recall("cache")
    tribal.memory.timekeeper.flush()
    tribal.clock.advance(days=31, hours=23)
    assert "activity" not in kinds(garden(tribal).rule(Rule.PRUNE))
    assert tribal.rows("SELECT calls FROM tributary.activity") == [{"calls": 1}]
    tribal.clock.advance(hours=1)
    assert kinds(garden(tribal).rule(Rule.PRUNE))["activity"] == 1
    assert tribal.rows("SELECT calls FROM tributary.activity") == []


ACTIVITY = """SELECT tributary.activity_v1(
    %s, %s, date_trunc('hour', clock_timestamp(), 'UTC'), clock_timestamp() + interval '1 hour', '1 hour', '{1,2}')"""
READS = """
    SELECT relname::text, coalesce(seq_tup_read, 0)::int, coalesce(idx_tup_fetch, 0)::int FROM pg_stat_xact_user_tables
    WHERE schemaname = 'tributary' AND relname IN ('lesson_event', 'tribe_event', 'activity', 'model_call')"""


def test_a_long_history_is_not_read_for_the_last_hour(tribal: Tribal) -> None:
    learned = tribal.learn(tribal.curator, "the cache is warm")
    tribal.recall("cache")
    spend(tribal, Purpose.JUDGE, "cheap", 1.0)
    tribal.memory.timekeeper.flush()
    assert learned.lesson is not None
    who = (tribal.tribe_id, tribal.curator.agent_id)
    tribal.rows(
        """INSERT INTO tributary.lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at)
           SELECT %s, n + 1, 1, %s, 'reinforced', 'active', %s, now() - interval '40 days' - n * interval '1 minute'
           FROM generate_series(1, 20000) n""",
        *(tribal.tribe_id, learned.lesson.lesson_id, tribal.curator.agent_id),
    )
    tribal.rows(
        """INSERT INTO tributary.model_call (tribe_id, call_id, at, purpose, model, ended, ms)
           SELECT %s, gen_random_uuid(), now() - interval '40 days', 'judge', 'm', 'answered', 1
           FROM generate_series(1, 20000)""",
        tribal.tribe_id,
    )
    tribal.rows(
        """INSERT INTO tributary.activity
           SELECT %s, date_trunc('hour', now()) - n * interval '1 hour', 'learn', 1, 1 FROM generate_series(2, 20000) n""",
        tribal.tribe_id,
    )
    tribal.rows("VACUUM ANALYZE")
    read = reads(tribal, *who)
    assert all(scanned == 0 or table == "tribe_event" for table, (scanned, _) in read.items()), read
    assert all(fetched <= 10 for _, fetched in read.values()), read
    tribal.rows("DROP INDEX tributary.lesson_event_at")
    assert sum(reads(tribal, *who)["lesson_event"]) >= 20_000, "the control: without its index the history would be read"


def reads(tribal: Tribal, *who: object) -> dict[str, tuple[int, int]]:
    """Returns how many rows the activity of the last hour reads, by table: by scanning it from end to end, and by an index."""
    with psycopg.connect(tribal.url) as connection:
        connection.execute(ACTIVITY.encode(), who)
        return {table: (scanned, fetched) for table, scanned, fetched in connection.execute(READS).fetchall()}


# -- what evals found


def test_any_agent_is_told_the_newest_runs_of_the_evals_newest_first(tribal: Tribal) -> None:
    figure = Evaluation(suite="classification", metric="test_accuracy", value=0.94, n=267, lower=0.9, upper=0.96)
    again = replace(figure, metric="test_unsure", lower=None, upper=None)
    runs = [
        EvaluationRun(
            run_id=new_id(),
            at=Every.HOUR.start(tribal.clock()) + timedelta(hours=number // 2),  # two at the same instant
            commit=f"c{number}",
            tier="offline",
            models={"judge": "local"},
            found=(figure, again),
        )
        for number in range(5)
    ]
    reader = tribal.agent("reader", Role.READER)
    assert tribal.memory.evaluations(reader) == ()
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        for run in runs:
            operator.record_evaluation(run)
    newest = sorted(runs, key=lambda run: (run.at, run.run_id), reverse=True)
    assert tribal.memory.evaluations(reader) == tuple(newest)
    assert tribal.memory.evaluations(reader, limit=3) == tuple(newest[:3])
    for limit in (0, 51):
        with pytest.raises(InvalidRequest):
            tribal.memory.evaluations(reader, limit=limit)
