"""The clock of the database's host is stepped under a crowd: the order stays, and nobody waits for what it said once.

On a real server whose clock is set (faketime), and, rule by rule, by the instant that the product takes as now.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.chaos.clocked import ClockedNode, clocked
from tests.chaos.crowd import gathered
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.access.sessions import MOST_FAILURES
from tributary.access.tokens import new_token
from tributary.core.action import BeginOutcome
from tributary.core.errors import RateLimited, TooManyTries, Unauthenticated
from tributary.core.lesson import Draft

ROUNDS = rounds(1)
HOUR_S = 3600
DAY_S = 24 * HOUR_S
STEPS = (5 * HOUR_S, -2 * HOUR_S, 3 * DAY_S, 0, -DAY_S, 30)
"""How far the clock is from the machine's after each step."""
AHEAD_DAYS = 2


@pytest.fixture(scope="module")
def server() -> Iterator[ClockedNode]:
    with clocked() as node:
        yield node


@pytest.mark.system
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_nothing_is_lost_and_the_order_stays_when_the_clock_of_the_database_is_stepped(server: ClockedNode, seed: int) -> None:
    drawn = random.Random(seed)
    server.set_clock(0)
    with gathered(server.url("migrated"), seed=100 + seed, writers=3, readers=2) as crowd:
        with crowd.busy():
            for ahead_s in (*STEPS, drawn.randint(-DAY_S, DAY_S)):
                server.set_clock(ahead_s)
                crowd.goes_on()
        crowd.settle()
        assert crowd.complaints() == []
        assert broken(crowd.url) == []
        server.set_clock(0)
        assert _ahead(server) >= timedelta(seconds=3 * DAY_S - HOUR_S)


@pytest.mark.system
def test_the_clock_that_is_stepped_is_the_one_that_the_tests_say(server: ClockedNode) -> None:
    """The control of the test above: else it would step nothing."""
    server.set_clock(0)
    told = server.ask("SELECT extract(epoch FROM clock_timestamp())")
    server.set_clock(DAY_S)
    assert float(str(server.ask("SELECT extract(epoch FROM clock_timestamp())"))) - float(str(told)) > DAY_S - HOUR_S


@pytest.mark.system
def test_a_turn_to_settle_that_was_taken_before_the_clock_was_put_back_ends_as_soon_as_any(server: ClockedNode) -> None:
    server.set_clock(2 * DAY_S)
    with open_tribal(server.url("migrated"), name="turns") as tribal:
        said = Draft(text="The relay waits for a settler", situation="settling", source=SEEN)
        tribal.memory.learn(tribal.curator, said, wait=False)
        taken = "SELECT tributary.take_turn_v1(%s, %s, 30)"  # by a settler that dies
        assert tribal.rows(taken, tribal.tribe_id, uuid4()) == [{"take_turn_v1": True}]
        assert tribal.memory.settle_pending() == 0
        server.set_clock(0)
        assert tribal.memory.settle_pending() == 1


def _ahead(server: ClockedNode) -> timedelta:
    found = server.ask("SELECT max(clock_at) - clock_timestamp() FROM tributary.tribe", "migrated")
    assert isinstance(found, timedelta)
    return found


@pytest.fixture
def hurried(database_url: str) -> Iterator[Tribal]:
    """A tribe whose agents may write twice a minute, at a time of the test's."""
    with open_tribal(database_url, writes_per_minute=2) as opened:
        yield opened


def test_an_agent_that_wrote_before_the_clock_was_put_back_has_its_pace_anew(hurried: Tribal) -> None:
    hurried.clock.advance(days=AHEAD_DAYS)
    _writes_until_refused(hurried)
    hurried.clock.advance(days=-AHEAD_DAYS)
    _writes_until_refused(hurried)


def _writes_until_refused(tribal: Tribal) -> None:
    for text in ("the first of two", "the second of two"):
        tribal.learn(tribal.curator, text)
    with pytest.raises(RateLimited) as caught:
        tribal.learn(tribal.curator, "the third of two")
    assert 0 < caught.value.retry_after_s <= 60


def test_a_source_whose_tries_failed_before_the_clock_was_put_back_may_try(tribal: Tribal) -> None:
    tribal.clock.advance(days=AHEAD_DAYS)
    for _ in range(MOST_FAILURES):
        with pytest.raises(Unauthenticated):
            tribal.memory.sign_in(new_token(), source="192.0.2.1")
    with pytest.raises(TooManyTries):
        tribal.memory.sign_in(tribal.curator_token, source="192.0.2.1")
    tribal.clock.advance(days=-AHEAD_DAYS)
    tribal.memory.sign_in(tribal.curator_token, source="192.0.2.1")


def test_a_session_that_was_begun_before_the_clock_was_put_back_lasts_no_longer_than_any(tribal: Tribal) -> None:
    tribal.clock.advance(days=AHEAD_DAYS)
    secret = tribal.memory.sign_in(tribal.curator_token, source="192.0.2.1").secret
    assert tribal.memory.session(secret) == tribal.curator
    tribal.clock.advance(days=-AHEAD_DAYS)
    with pytest.raises(Unauthenticated):
        tribal.memory.session(secret)


def test_an_action_whose_lease_is_of_a_clock_that_was_put_back_is_in_doubt_and_its_holder_may_end_it(tribal: Tribal) -> None:
    actions, other = tribal.memory.actions, tribal.agent("other")
    tribal.clock.advance(days=AHEAD_DAYS)
    begun = actions.begin(tribal.curator, "restart", "restarts the gateway", lease_s=3600)
    assert actions.begin(other, "restart", "restarts the gateway").outcome is BeginOutcome.BUSY
    tribal.clock.advance(days=-AHEAD_DAYS)
    assert actions.begin(other, "restart", "restarts the gateway").outcome is BeginOutcome.IN_DOUBT
    assert begun.lease is not None
    assert actions.complete(tribal.curator, begun.action.action_id, begun.lease, {}).action.state.value == "done"


def test_a_lease_is_renewed_after_the_clock_was_put_back_by_less_than_it_lasts(tribal: Tribal) -> None:
    actions = tribal.memory.actions
    begun = actions.begin(tribal.curator, "restart", "restarts the gateway", lease_s=60)
    assert begun.lease is not None
    tribal.clock.advance(minutes=-30)
    renewed = actions.renew(tribal.curator, begun.action.action_id, begun.lease, lease_s=60)
    assert renewed.lease_until - tribal.clock() <= timedelta(seconds=60)
    assert broken(tribal.url) == []
