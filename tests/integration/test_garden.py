"""A run of the gardener as a whole: dry, short of time, two at once, beside learners, with something that fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.conftest import database_at
from tests.doubles import RuledJudge, WordScreen, all_unrelated
from tests.gardens import (
    HEADER,
    OTHER,
    AwayJudge,
    backdate,
    dump,
    garden,
    kinds,
    learned,
    room_for,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal
from tributary.core.errors import NotFound, Unavailable
from tributary.core.garden import GardenReport, Rule
from tributary.core.ids import new_id
from tributary.core.lesson import Draft
from tributary.service import open_memory, tending


def test_pending_lessons_are_settled(unrelated: Tribal) -> None:
    draft = Draft(text=HEADER, situation="deploying", source=SEEN)
    unrelated.memory.learn(unrelated.curator, draft, wait=False)
    assert unrelated.status_counts() == {"pending": 1}
    report = garden(unrelated).rule(Rule.SETTLE)
    assert (report.done, report.left) == (1, 0)
    assert unrelated.status_counts() == {"active": 1}
    assert garden(unrelated).idle


def neglected(tribal: Tribal, screen: WordScreen, judge: AwayJudge) -> None:
    """Leaves something to do for every rule."""
    soon = datetime.now(UTC) + timedelta(hours=1)
    writer = tribal.agent("writer")
    learned(tribal, writer, HEADER, subject="deploy-api", confidence=0.9)
    learned(tribal, tribal.curator, OTHER, subject="deploy-api")
    learned(tribal, writer, "expires", valid_until=soon, subject="elsewhere")
    for number in range(4):
        learned(tribal, writer, f"one too many {number}", confidence=0.5, subject=f"s{number}")
    screen.fails = True
    learned(tribal, writer, "held back")
    learned(tribal, writer, "HIJACK the reader")
    screen.fails = False
    tribal.memory.learn(writer, Draft(text="kept", situation="any", source=SEEN), wait=False)
    tribal.rows(
        "DELETE FROM tributary.lesson_vector WHERE lesson_id = (SELECT lesson_id FROM tributary.lesson WHERE text = %s)", HEADER
    )
    room_for(tribal, 4)
    tribal.memory.actions.begin(writer, "k", "left behind")
    tribal.clock.advance(days=8)
    judge.away = False


def test_a_dry_run_writes_nothing_and_reports_what_the_real_one_then_does(database_url: str) -> None:
    screen, judge = WordScreen(), AwayJudge(all_unrelated)
    with open_tribal(database_url, screen=screen, judge=judge, exact_limit=2) as tribal:
        neglected(tribal, screen, judge)
        before = dump(database_url)
        assert len(before["lesson"]) == 10
        foreseen = garden(tribal, dry_run=True)
        assert dump(database_url) == before
        assert foreseen.dry_run
        assert not [one.rule for one in foreseen.total if one.idle], "every rule had something to do"
        real = garden(tribal)
        assert dump(database_url) != before
        for rule in (Rule.SETTLE, Rule.RESCREEN, Rule.REJUDGE, Rule.EMBED, Rule.INDEX):
            assert kinds(real.rule(rule)) == kinds(foreseen.rule(rule)), rule
        assert kinds(real.rule(Rule.STAMP)) == kinds(foreseen.rule(Rule.STAMP)) == {"expired": 1}
        assert real.rule(Rule.EVICT).done >= foreseen.rule(Rule.EVICT).done > 0


def test_without_time_nothing_is_done_and_all_of_it_is_left(database_url: str) -> None:
    screen, judge = WordScreen(), AwayJudge(all_unrelated)
    with open_tribal(database_url, screen=screen, judge=judge) as tribal:
        neglected(tribal, screen, judge)
        before = dump(database_url)
        report = garden(tribal, budget_s=0)
        assert {**dump(database_url), "gardening": []} == before
        assert {one.rule: one.left for one in report.total if one.left} == {
            Rule.SETTLE: 1,
            Rule.RESCREEN: 2,
            Rule.REJUDGE: 6,
            Rule.STAMP: 1,
            Rule.EVICT: 2,
            Rule.EMBED: 1,
            Rule.DOUBT: 1,
            Rule.PRUNE: 1,
        }
        garden(tribal)
        assert not any(one.left for one in garden(tribal).total)


def test_two_gardeners_at_once_do_everything_once(database_url: str) -> None:
    screen, judge = WordScreen(), AwayJudge(all_unrelated)
    with (
        open_tribal(database_url, screen=screen, judge=judge) as tribal,
        open_memory(tribal.settings, adapters=tribal.adapters) as second,
    ):
        neglected(tribal, screen, judge)
        together = threading.Barrier(2)

        def tend(memory: object) -> GardenReport:
            together.wait()
            return (tribal.memory if memory is tribal.memory else second).gardener.run(tribal.tribe_id, budget_s=None)

        with ThreadPoolExecutor(2) as pool:
            reports = list(pool.map(tend, [tribal.memory, second]))
        assert not [one.failed for report in reports for one in report.total if one.failed]
        tribal.memory.gardener.run(tribal.tribe_id, budget_s=None)
        ends = tribal.rows(
            """SELECT lesson_id, count(*) AS n FROM tributary.lesson_event WHERE event IN ('learned', 'retired', 'evicted')
               GROUP BY lesson_id, event HAVING count(*) > 1"""
        )
        assert ends == []
        assert tribal.status_counts() == {"active": 4, "evicted": 4, "quarantined": 1, "retired": 1}


def test_a_rule_that_fails_does_not_stop_the_others(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        learned(tribal, tribal.curator, "expires", valid_until=datetime.now(UTC) + timedelta(hours=1))
        tribal.clock.advance(hours=2)
        tribal.rows("DROP FUNCTION tributary.garden_beliefs_v1")
        tribal.rows("UPDATE tributary.pace SET spent_until = now() - interval '10 days'")
        report = tribal.memory.gardener.run(tribal.tribe_id)
        assert {one.rule: one.failed for one in report.total if one.failed} == {Rule.STAMP: "not_migrated"}
        assert report.rule(Rule.PRUNE).done == 1


@pytest.mark.parametrize("settled", [0, 1])
def test_a_database_that_is_lost_on_the_way_ends_the_run_with_what_was_done(database_url: str, settled: int) -> None:
    judge, screen = AwayJudge(all_unrelated), WordScreen()
    with open_tribal(database_url, judge=judge, screen=screen) as tribal:
        for _ in range(settled):
            tribal.memory.learn(tribal.curator, Draft(text=HEADER, situation="deploying", source=SEEN), wait=False)
        learned(tribal, tribal.curator, "one", subject="matter")
        learned(tribal, tribal.curator, "two", subject="matter")
        judge.away = False

        def lose() -> None:
            name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
            with psycopg.connect(database_at(database_url, "postgres"), autocommit=True) as connection:
                connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))

        judge.before = lambda: lose() if ("two", "one") in judge.asked else None
        report = tribal.memory.gardener.run(tribal.tribe_id)
        assert report.failed == "unavailable"
        assert {one.rule: one.failed for one in report.total if one.failed} == {Rule.REJUDGE: "unavailable"}
        assert report.rule(Rule.SETTLE).done == settled


def test_a_gardener_without_its_database_says_so(tribal: Tribal) -> None:
    lost = tribal.settings.model_copy(update={"database_url": "postgresql://nobody@127.0.0.1:1/none"})
    with open_memory(lost, adapters=tribal.adapters) as memory, pytest.raises(Unavailable):
        memory.gardener.run_all()


def test_a_tribe_that_is_not_there_is_not_found(tribal: Tribal) -> None:
    with pytest.raises(NotFound):
        tribal.memory.gardener.run(new_id())
    with pytest.raises(NotFound, match="'nowhere'"):
        tribal.memory.gardener.run_named("nowhere")


def test_every_tribe_is_tended_and_none_sees_anothers_lessons(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with (
        open_tribal(database_url, name="one", judge=judge) as one,
        open_tribal(database_url, name="two", judge=judge) as two,
    ):
        soon = datetime.now(UTC) + timedelta(hours=1)
        for tribal in (one, two):
            learned(tribal, tribal.curator, "expires", valid_until=soon)
        one.clock.advance(hours=2)
        assert one.memory.gardener.run(two.tribe_id).rule(Rule.STAMP).done == 1
        assert (one.status_counts(), two.status_counts()) == ({"active": 1}, {"retired": 1})
        report = one.memory.gardener.run_all()
        assert [(tribe.name, tribe.rule(Rule.STAMP).done) for tribe in report.tribes] == [("one", 1), ("two", 0)]


def test_a_gardener_beside_learners_breaks_nothing(database_url: str) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal:
        room_for(tribal, 5)
        writers = [tribal.agent(f"writer-{number}") for number in range(3)]
        old = [learned(tribal, tribal.curator, f"old {number}", subject="matter") for number in range(20)]
        for one in old:
            backdate(tribal, one.lesson_id, days=3)

        def learn(agent: Principal) -> None:
            for number in range(10):
                tribal.learn(agent, f"{agent.name} {number}", subject="matter")

        with ThreadPoolExecutor(5) as pool:
            learning = [pool.submit(learn, agent) for agent in writers]
            gardening = [pool.submit(tribal.memory.gardener.run, tribal.tribe_id) for _ in range(6)]
            assert [one.exception() for one in learning] == [None] * len(learning)
            assert [one.exception() for one in gardening] == [None] * len(gardening)
        garden(tribal)
        assert tribal.status_counts() == {"active": 30, "evicted": 20}
        assert tribal.rows("SELECT vectors FROM tributary.tribe_space") == [{"vectors": 30}]


def test_the_worker_beside_a_server_settles_and_gardens(unrelated: Tribal) -> None:
    learned(unrelated, unrelated.curator, "expires", valid_until=datetime.now(UTC) + timedelta(hours=1))
    unrelated.memory.learn(unrelated.curator, Draft(text=HEADER, situation="deploying", source=SEEN), wait=False)
    unrelated.clock.advance(hours=2)
    with tending(unrelated.memory, settle_every_s=0.01, garden_every_s=0.01):
        while unrelated.status_counts() != {"active": 1, "retired": 1}:
            pass


def test_a_report_is_plain_json(unrelated: Tribal) -> None:
    import json

    document = garden(unrelated).document()
    assert json.loads(json.dumps(document)) == document
    assert [one["rule"] for one in document["total"]] == [rule.value for rule in Rule]  # type: ignore[attr-defined]  # a list
