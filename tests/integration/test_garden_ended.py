"""How the gardener's last run in a tribe went is kept, and told by the status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.gardens import garden, learned, room_for, ticks
from tests.tribes import Tribal, open_tribal
from tributary.core.garden import Gardening, Rule, RuleReport, longest_absence
from tributary.core.status import Observation, State, Unseen


def last(tribal: Tribal) -> Gardening:
    found = tribal.memory.status(tribal.curator).gardening
    assert found is not None
    return found


def lamps(tribal: Tribal) -> dict[str, Observation]:
    seen = tribal.memory.status(tribal.curator).observations
    return {one.check: one for one in seen if one.check in ("last_gardening", "gardening_failed")}


def states(tribal: Tribal) -> dict[str, State]:
    return {check: one.state for check, one in lamps(tribal).items()}


def test_what_the_last_run_did_left_and_refused_is_told_and_a_dry_one_leaves_nothing(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        room_for(tribal, 1)
        for number in range(3):
            learned(tribal, tribal.curator, f"the secret word {number}", subject=f"s{number}")
        learned(tribal, tribal.curator, "expires", valid_until=datetime.now(UTC) + timedelta(hours=1))
        tribal.clock.advance(hours=2)
        garden(tribal, dry_run=True)
        assert tribal.memory.status(tribal.curator).gardening is None
        assert {one.cause for one in lamps(tribal).values()} == {Unseen.NOT_RECORDED}
        report = garden(tribal)
        kept = last(tribal)
        assert kept.rules == tuple(
            RuleReport(rule=one.rule, done=one.done, left=one.left, refused=one.refused) for one in report.tribes[0].rules
        )
        assert [one.rule for one in kept.rules] == list(Rule)
        assert (report.rule(Rule.STAMP).done, report.rule(Rule.EVICT).refused) == (1, {"in_grace": 2}), (
            "there was something to tell"
        )
        assert timedelta() < kept.ended_at - kept.began_at < timedelta(minutes=1)
        assert abs(datetime.now(UTC) - kept.ended_at) < timedelta(minutes=1), "the database's clock, not the test's"
        assert states(tribal) == {"last_gardening": State.OK, "gardening_failed": State.OK}
        assert "secret" not in str(tribal.rows("SELECT * FROM tributary.gardening"))
        tick = ticks(tribal)
        garden(tribal)
        assert ticks(tribal) == tick, "keeping it is no change of a belief"
        assert last(tribal).ended_at > kept.ended_at
        assert len(tribal.rows("SELECT FROM tributary.gardening")) == 1


def test_a_run_without_time_and_one_with_a_failing_rule_are_told_too(unrelated: Tribal) -> None:
    learned(unrelated, unrelated.curator, "expires", valid_until=datetime.now(UTC) + timedelta(hours=1))
    unrelated.clock.advance(hours=2)
    garden(unrelated, budget_s=0)
    assert {one.rule: one.left for one in last(unrelated).rules if one.left} == {Rule.STAMP: 1}
    assert states(unrelated) == {"last_gardening": State.OK, "gardening_failed": State.OK}
    unrelated.rows("ALTER FUNCTION tributary.garden_beliefs_v1 RENAME TO mislaid")
    unrelated.memory.gardener.run(unrelated.tribe_id)
    assert lamps(unrelated)["gardening_failed"].value == ("stamp: not_migrated",)
    assert states(unrelated) == {"last_gardening": State.OK, "gardening_failed": State.NOT_OK}
    unrelated.rows("ALTER FUNCTION tributary.mislaid RENAME TO garden_beliefs_v1")
    garden(unrelated)
    assert states(unrelated) == {"last_gardening": State.OK, "gardening_failed": State.OK}


def test_a_turn_that_failed_before_its_first_rule_is_told_by_its_code(unrelated: Tribal) -> None:
    unrelated.rows("DROP FUNCTION tributary.garden_survey_v1")
    unrelated.memory.gardener.run(unrelated.tribe_id)
    assert (last(unrelated).failed, last(unrelated).rules) == ("not_migrated", ())
    assert lamps(unrelated)["gardening_failed"].value == ("not_migrated",)


@pytest.mark.parametrize(("ago", "state"), [("1 hour 59 minutes", State.OK), ("2 hours 1 minute", State.NOT_OK)])
def test_a_run_is_missed_after_two_periods(unrelated: Tribal, ago: str, state: State) -> None:
    garden(unrelated)
    unrelated.rows(
        "UPDATE tributary.gardening SET began_at = began_at - %s::interval, ended_at = ended_at - %s::interval", ago, ago
    )
    assert states(unrelated) == {"last_gardening": state, "gardening_failed": State.OK}
    assert lamps(unrelated)["last_gardening"].rule == "at most 2 hours ago"


@pytest.mark.parametrize(("every_s", "hours"), [(0, 48), (1, 2), (3600, 2), (3601, 2.0006), (86_400, 48)])
def test_a_period_counts_as_an_hour_at_least_and_as_a_day_where_nobody_here_knows_it(every_s: int, hours: float) -> None:
    assert longest_absence(timedelta(seconds=every_s)) / timedelta(hours=1) == pytest.approx(hours, abs=0.0001)


def test_a_run_that_cannot_be_kept_is_logged_and_fails_nothing(unrelated: Tribal, caplog: pytest.LogCaptureFixture) -> None:
    learned(unrelated, unrelated.curator, "expires", valid_until=datetime.now(UTC) + timedelta(hours=1))
    unrelated.clock.advance(hours=2)
    unrelated.rows("DROP FUNCTION tributary.garden_ended_v1")
    assert garden(unrelated).rule(Rule.STAMP).done == 1
    (told,) = [record for record in caplog.records if record.message == "garden.unrecorded"]
    assert vars(told)["fields"]["code"] == "not_migrated"
    assert states(unrelated) == {"last_gardening": State.UNKNOWN, "gardening_failed": State.UNKNOWN}
