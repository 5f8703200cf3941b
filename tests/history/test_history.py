"""Histories of random operations are serial in tick order. The controls show what the checker sees when they are not."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import psycopg
import pytest

from tests.conftest import new_database
from tests.history.check import check
from tests.history.history import History, run
from tests.history.replay import UNOPPOSED
from tests.history.tampering import TAMPERINGS, Tampering
from tests.history.violations import Rule, Violation
from tests.history.world import Beat, World
from tributary.core.decision import Outcome

SEEDS = (1, 2)
FURTHER_SEEDS = (3, 4, 5, 6)
"""For what chance, and how threads meet, kept out of the others."""
OPERATIONS = 300
EVERYTHING = {
    *("replan", UNOPPOSED, "refusal forbidden", "refusal wrong_standing"),
    *(f"outcome {outcome.value}" for outcome in Outcome),
    *(f"event {name}" for name in "learned disputed reinforced superseded retired erased challenged cleared".split()),
    *(f"ending {name}" for name in ("accepted", "rejected", "both_stand", "moot")),
}
"""What the workload has to come upon."""
CONTROL_SEEDS = (1, 2, 3)
CONTROL_OPERATIONS = 240


@pytest.fixture(scope="module")
def histories(server_url: str, template: str) -> Iterator[list[History]]:
    """The histories of both tribes, for each seed, and for further ones until everything was come upon."""
    with new_database(server_url, template) as url:
        found = [one for seed in SEEDS for one in run(url, seed=seed, operations=OPERATIONS)]
        for seed in FURTHER_SEEDS:
            if not _never_happened(found):
                break
            found += run(url, seed=seed, operations=OPERATIONS)
        yield found


@pytest.fixture(scope="module")
def untouched(histories: list[History]) -> set[Violation]:
    """What the checker finds in the first history as it is."""
    return set(check(histories[0]))


def test_random_histories_are_serial_in_tick_order(histories: list[History]) -> None:
    assert not (wrong := _wrong(histories)), wrong


def test_the_workload_comes_upon_everything(histories: list[History]) -> None:
    """What never happens is not checked."""
    assert not _never_happened(histories)
    assert _never_happened([]) == EVERYTHING


def _never_happened(histories: list[History]) -> set[str]:
    decisions = [row for one in histories for row in one.tables.decision]
    events = [row for one in histories for row in one.tables.lesson_event]
    happened = {f"outcome {row['outcome']}" for row in decisions}
    happened |= {"replan" for row in decisions if row["replans"]}
    happened |= {f"event {row['event']}" for row in events}
    happened |= {UNOPPOSED for row in events if row["details"].get("cause") == UNOPPOSED}
    happened |= {f"ending {row['ending']}" for one in histories for row in one.tables.dispute}
    happened |= {f"refusal {call.refused}" for one in histories for call in one.calls}
    return EVERYTHING - happened


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.__name__)
def test_the_checker_notices_that(histories: list[History], untouched: set[Violation], tampering: Tampering) -> None:
    history: History = pickle.loads(pickle.dumps(histories[0]))  # a copy
    tampering(history)
    assert TAMPERINGS[tampering] in {one.rule for one in set(check(history)) - untouched}


def test_every_rule_of_the_checker_has_its_control() -> None:
    assert set(TAMPERINGS.values()) == set(Rule)


def test_commits_that_meet_are_serial(database_url: str) -> None:
    """What the controls below do, with every guard in its place."""
    histories = run(database_url, seed=1, operations=CONTROL_OPERATIONS, world=World(matters=2), pause=Beat())
    assert not (wrong := _wrong(histories)), wrong


def _wrong(histories: list[History]) -> str:
    return "\n".join(str(one) for history in histories for one in check(history))


CUTS = {"gate": ("FOR NO KEY UPDATE", ""), "learn_delta": ("BEGIN\n", "BEGIN\n    RETURN;\n")}
"""What takes a guard out: the gate is not held, or the delta check finds nothing."""


@pytest.mark.parametrize("guard", CUTS)
def test_without_a_guard_the_checker_finds_contradictions(database_url: str, guard: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        found = connection.execute(f"SELECT pg_get_functiondef('tributary.{guard}_v1'::regproc)".encode()).fetchone()
        assert found is not None
        assert CUTS[guard][0] in found[0]
        connection.execute(found[0].replace(*CUTS[guard], 1).encode())
    caught = {one.rule for violations in _until_caught(database_url) for one in violations}
    assert caught & {Rule.CANDIDATES, Rule.RIVALS}


def _until_caught(url: str) -> Iterator[list[Violation]]:
    """Gives what is wrong with histories whose commits meet, up to the first with a contradiction."""
    for seed in CONTROL_SEEDS:
        histories = run(url, seed=seed, operations=CONTROL_OPERATIONS, world=World(matters=2), pause=Beat())
        violations = [one for history in histories for one in check(history)]
        yield violations
        if {one.rule for one in violations} & {Rule.CANDIDATES, Rule.RIVALS}:
            return
