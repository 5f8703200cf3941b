"""How the gardener ends beliefs: it stamps what time has ended, and evicts what there is no room for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles import RuledJudge, same_text_same_else_conflict
from tests.gardens import (
    HEADER,
    OTHER,
    backdate,
    garden,
    how_it_ended,
    in_utc,
    kinds,
    learned,
    room_for,
    status,
    ticks,
)
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.confidence import half_life
from tributary.core.decision import VerdictKind
from tributary.core.eviction import GRACE
from tributary.core.garden import Rule
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Draft, Kind, Lesson


def test_what_expired_and_what_withered_is_retired_with_the_instant_at_which_it_lapsed(unrelated: Tribal) -> None:
    until = datetime.now(UTC) + timedelta(days=3)
    expires = learned(unrelated, unrelated.curator, "a window", valid_until=until)
    withers = learned(unrelated, unrelated.curator, "a fact", kind=Kind.ENTITY_FACT, confidence=0.3)
    stays = learned(unrelated, unrelated.curator, "a gotcha")
    assert garden(unrelated).idle
    unrelated.clock.advance(days=15)
    before = ticks(unrelated)
    assert kinds(garden(unrelated, dry_run=True).rule(Rule.STAMP)) == {"expired": 1, "withered": 1}
    assert ticks(unrelated) == before
    report = garden(unrelated).rule(Rule.STAMP)
    assert kinds(report) == {"expired": 1, "withered": 1}
    assert ticks(unrelated) == before + 1
    how, details = how_it_ended(unrelated, expires.lesson_id)
    assert (how, details["cause"], in_utc(details["since"])) == ("retired", "expired", until)
    how, details = how_it_ended(unrelated, withers.lesson_id)
    assert (how, details["cause"]) == ("retired", "withered")
    assert in_utc(details["since"]) == withers.last_confirmed_at + half_life(Kind.ENTITY_FACT)
    assert status(unrelated, stays) == "active"
    assert garden(unrelated).idle
    assert ticks(unrelated) == before + 1, "a run that changes nothing is no tick"


def test_a_lesson_that_was_confirmed_since_it_was_read_is_not_stamped(unrelated: Tribal) -> None:
    """Its guard is under the gate: what the gardener read of it may be older."""
    fact = learned(unrelated, unrelated.curator, "a fact", kind=Kind.ENTITY_FACT, confidence=0.3)
    read_tick = ticks(unrelated)
    unrelated.memory.reinforce(unrelated.agent("other"), fact.lesson_id)
    ended = unrelated.rows(
        """SELECT e.retired, e.evicted FROM tributary.garden_end_v1(%s, ARRAY[%s]::uuid[], ARRAY['withered'], ARRAY[now()], %s,
           NULL, 1, interval '1 day', now()) e""",
        unrelated.tribe_id,
        fact.lesson_id,
        read_tick,
    )
    assert ended == [{"retired": 0, "evicted": 0}]
    assert status(unrelated, fact) == "active"
    assert ticks(unrelated) == read_tick + 1, "the confirmation alone was a tick"


def test_disputed_pending_and_quarantined_lessons_do_not_lapse(database_url: str) -> None:
    judge = RuledJudge(same_text_same_else_conflict)
    with open_tribal(database_url, judge=judge) as tribal:
        soon = datetime.now(UTC) + timedelta(hours=1)
        learned(tribal, tribal.agent("writer"), HEADER, subject="deploy-api")
        learned(tribal, tribal.agent("other"), OTHER, subject="deploy-api", valid_until=soon)
        learned(tribal, tribal.curator, "HIJACK the reader", valid_until=soon)
        tribal.clock.advance(hours=2)
        assert garden(tribal).idle
        assert tribal.status_counts() == {"active": 1, "disputed": 1, "quarantined": 1}


def test_a_challenge_by_what_lapsed_is_closed_with_it(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(lambda *_: VerdictKind.UNSURE)) as tribal:
        learned(tribal, tribal.curator, HEADER, subject="deploy-api")
        learned(tribal, tribal.curator, OTHER, subject="deploy-api", valid_until=datetime.now(UTC) + timedelta(hours=1))
        tribal.clock.advance(hours=2)
        garden(tribal)
        assert tribal.rows("SELECT state, ending FROM tributary.dispute") == [{"state": "settled", "ending": "moot"}]


def test_more_than_one_gate_takes_is_stamped_in_several_ticks(unrelated: Tribal) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    drafts = [Draft(text=f"fact {number}", situation="any", source=SEEN, valid_until=soon) for number in range(250)]
    for start in range(0, 250, 50):
        unrelated.memory.learn_all(unrelated.curator, drafts[start : start + 50])
    unrelated.clock.advance(hours=2)
    before = ticks(unrelated)
    assert garden(unrelated).rule(Rule.STAMP).done == 250
    assert ticks(unrelated) == before + 2


def test_what_is_above_capacity_goes_lowest_first_but_not_within_its_grace(unrelated: Tribal) -> None:
    levels = (0.9, 0.5, 0.7)
    high, low, middle = (learned(unrelated, unrelated.curator, f"at {level}", confidence=level) for level in levels)
    room_for(unrelated, 2)
    assert garden(unrelated, dry_run=True).rule(Rule.EVICT).refused == {"in_grace": 1}
    assert unrelated.rows("SELECT * FROM tributary.audit WHERE action = 'evict'") == []
    report = garden(unrelated).rule(Rule.EVICT)
    assert (report.done, report.refused) == (0, {"in_grace": 1})
    audited = unrelated.rows("SELECT code, detail FROM tributary.audit WHERE action = 'evict'")
    assert audited == [{"code": "in_grace", "detail": show(Prefix.LESSON, low.lesson_id)}]
    unrelated.clock.advance(hours=25)
    assert kinds(garden(unrelated).rule(Rule.EVICT)) == {"capacity": 1}
    assert how_it_ended(unrelated, low.lesson_id) == ("evicted", {"cause": "capacity"})
    assert [status(unrelated, one) for one in (high, middle)] == ["active", "active"]
    assert garden(unrelated).idle


def test_what_is_to_be_kept_for_longer_is_not_evicted_before_and_each_refusal_is_audited_once_a_day(unrelated: Tribal) -> None:
    until = datetime.now(UTC) + timedelta(days=10)
    kept = learned(unrelated, unrelated.curator, "kept", confidence=0.1, keep_until=until)
    learned(unrelated, unrelated.curator, "also kept", keep_until=until)
    room_for(unrelated, 1)
    midday = (datetime.now(UTC) + timedelta(days=3)).replace(hour=12)
    unrelated.clock.advance(seconds=(midday - datetime.now(UTC)).total_seconds())
    for _ in range(3):
        assert garden(unrelated).rule(Rule.EVICT).refused == {"kept_until": 1}
        unrelated.clock.advance(minutes=10)
    unrelated.clock.advance(days=1)
    garden(unrelated)
    audited = unrelated.rows("SELECT code, detail FROM tributary.audit WHERE action = 'evict'")
    assert audited == [{"code": "kept_until", "detail": show(Prefix.LESSON, kept.lesson_id)}] * 2
    unrelated.clock.advance(days=7)
    assert garden(unrelated).rule(Rule.EVICT).done == 1
    assert status(unrelated, kept) == "evicted"


@pytest.mark.parametrize("fields", [{}, {"keep_until": datetime.now(UTC) + timedelta(days=30)}])
def test_the_database_itself_refuses_to_evict_what_may_not_go(unrelated: Tribal, fields: dict[str, object]) -> None:
    one = learned(unrelated, unrelated.curator, "one", **fields)
    learned(unrelated, unrelated.curator, "two")
    at = datetime.now(UTC) + (timedelta(days=2) if fields else timedelta(hours=1))
    assert evicted_by_force(unrelated, [one], at=at, capacity=1) == 0
    assert evicted_by_force(unrelated, [one], at=at + timedelta(days=31), capacity=1) == 1


def test_the_database_itself_refuses_to_evict_where_there_is_room(unrelated: Tribal) -> None:
    three = [learned(unrelated, unrelated.curator, f"fact {number}") for number in range(3)]
    assert evicted_by_force(unrelated, three, at=datetime.now(UTC) + timedelta(days=2), capacity=2) == 1
    assert unrelated.status_counts() == {"active": 2, "evicted": 1}


def test_an_eviction_by_a_policy_that_was_changed_since_is_refused(unrelated: Tribal) -> None:
    pair = [learned(unrelated, unrelated.curator, f"fact {number}") for number in range(2)]
    room_for(unrelated, 1)
    at = datetime.now(UTC) + timedelta(days=2)
    assert evicted_by_force(unrelated, pair, at=at, capacity=1, version=1) == 0
    assert evicted_by_force(unrelated, pair, at=at, capacity=1, version=2) == 1


def evicted_by_force(
    tribal: Tribal, lessons: Sequence[Lesson], *, at: datetime, capacity: int, version: int | None = None
) -> object:
    return tribal.rows(
        """SELECT e.evicted FROM tribe t, LATERAL tributary.garden_end_v1(t.tribe_id, %s, %s, %s, t.clock, %s,
           coalesce(%s, t.policy_version), %s, %s) e""".replace("FROM tribe t", "FROM tributary.tribe t"),
        [one.lesson_id for one in lessons],
        ["capacity"] * len(lessons),
        [at] * len(lessons),
        capacity,
        version,
        GRACE,
        at,
    )[0]["evicted"]


def test_a_capacity_that_was_set_today_evicts_by_the_confidence_of_today(unrelated: Tribal) -> None:
    """The policy is a write, too: what had been the lowest before it counts for nothing."""
    slow = learned(unrelated, unrelated.curator, "slow", kind=Kind.REJECTED_HYPOTHESIS, confidence=0.6)
    quick = learned(unrelated, unrelated.curator, "quick", kind=Kind.ENTITY_FACT, confidence=0.9)
    for one in (slow, quick):
        backdate(unrelated, one.lesson_id, days=12)
    unrelated.rows("UPDATE tributary.lesson_event SET at = at - interval '12 days'")
    room_for(unrelated, 1)
    garden(unrelated)
    assert (status(unrelated, slow), status(unrelated, quick)) == ("active", "evicted")


def test_what_the_gardener_ends_itself_is_no_write_that_time_is_counted_from(unrelated: Tribal) -> None:
    """Else a run that stopped half way would go on from another instant than the one that it had begun at."""

    def last_write() -> object:
        return unrelated.rows("SELECT tributary.garden_last_write_v1(%s) AS at", unrelated.tribe_id)[0]["at"]

    learned(unrelated, unrelated.curator, "expires", valid_until=datetime.now(UTC) + timedelta(days=2))
    stays = learned(unrelated, unrelated.curator, "stays")
    learned(unrelated, unrelated.curator, "low", confidence=0.1)
    room_for(unrelated, 2)
    written = last_write()
    unrelated.clock.advance(days=3)
    report = garden(unrelated)
    assert (report.rule(Rule.STAMP).done, report.rule(Rule.EVICT).done) == (1, 1)
    assert last_write() == written
    unrelated.memory.reinforce(unrelated.agent("other"), stays.lesson_id)
    assert last_write() != written


def test_a_lesson_that_lapsed_had_its_room_until_then(unrelated: Tribal) -> None:
    """Run late, the gardener evicts what it would have evicted in time."""
    soon = datetime.now(UTC) + timedelta(days=5)
    short = learned(unrelated, unrelated.curator, "short", confidence=1.0, valid_until=soon)
    low = learned(unrelated, unrelated.curator, "low", confidence=0.5)
    learned(unrelated, unrelated.curator, "high", confidence=0.8)
    room_for(unrelated, 2)
    unrelated.clock.advance(days=6)
    report = garden(unrelated)
    assert (kinds(report.rule(Rule.STAMP)), kinds(report.rule(Rule.EVICT))) == ({"expired": 1}, {"capacity": 1})
    assert (status(unrelated, short), status(unrelated, low)) == ("retired", "evicted")
