"""The demonstration: an incident that goes through every gate, once."""

from __future__ import annotations

import pytest

from tests.doubles import WordScreen
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.decision import Outcome
from tributary.core.errors import InvalidRequest, NotFound, WrongStanding
from tributary.models.judges import LocalJudge
from tributary.service import open_operator
from tributary.service.demo_incident import INCIDENT
from tributary.service.seeding import SEED, WITNESS, seed_demo


def test_incident_is_told_with_a_replaced_belief_and_an_open_dispute_and_only_once(database_url: str) -> None:
    with open_tribal(database_url, judge=LocalJudge()) as tribal:
        told = seed_demo(tribal.settings, tribal.name, adapters=tribal.adapters)
        assert [one.learned.outcome for one in told] == [
            *[Outcome.LEARNED] * 5,
            Outcome.SUPERSEDED,
            Outcome.LEARNED,
            Outcome.DISPUTED,
        ]
        ticks = told[-1].learned.tick
        with pytest.raises(WrongStanding, match="was taught the demo already"):
            seed_demo(tribal.settings, tribal.name, adapters=tribal.adapters)
        assert tribal.memory.history.changes(tribal.curator, after=0).clock == ticks
        assert tribal.recall("checkout answers 503").hits
        with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
            assert {one.name for one in operator.agents(tribal.name) if one.revoked_at} == {SEED, WITNESS}


def test_incident_goes_through_the_screen(database_url: str) -> None:
    with open_tribal(database_url, judge=LocalJudge(), screen=WordScreen("mobile app")) as tribal:
        told = seed_demo(tribal.settings, tribal.name, adapters=tribal.adapters)
        assert [one.learned.outcome for one in told].count(Outcome.QUARANTINED) == 2


def test_seeding_that_was_interrupted_goes_on_and_teaches_nothing_twice(database_url: str) -> None:
    with open_tribal(database_url, judge=LocalJudge()) as tribal:
        with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
            seed = tribal.memory.authenticate(operator.create_agent(tribal.name, SEED, Role.WRITER, days=1, system=True).secret)
        for number, one in enumerate(INCIDENT[:3], start=1):
            tribal.memory.learn(seed, one.draft, idempotency_key=f"demo:checkout-503#{number}")
        told = seed_demo(tribal.settings, tribal.name, adapters=tribal.adapters)
        assert [one.learned.replayed for one in told] == [True] * 3 + [False] * 5
        assert sum(tribal.status_counts().values()) == len(INCIDENT)


def test_tribe_that_is_not_there_is_named(tribal: Tribal) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        seed_demo(tribal.settings, "nowhere", adapters=tribal.adapters)


@pytest.mark.parametrize("name", ["system:demo-seed", "System:x"])
def test_nobody_else_is_named_as_the_memorys_own_agents_are(tribal: Tribal, name: str) -> None:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        with pytest.raises(InvalidRequest, match="the memory's own"):
            operator.create_agent(tribal.name, name, Role.WRITER)
        with pytest.raises(InvalidRequest, match="the memory's own"):
            operator.create_tribe("another", curator=name)
    with pytest.raises(InvalidRequest, match="the memory's own"):
        tribal.memory.agents.create(tribal.curator, name, Role.WRITER)
