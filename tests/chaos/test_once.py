"""Whoever carries out an action is killed at each point of the way: its effect never happens twice, and once in the end.

TRIBUTARY_CHAOS_ROUNDS says how often (ten times by default).
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chaos import acting
from tests.chaos.acting import Order, Point, have_effect
from tests.chaos.rounds import rounds
from tests.tribes import Tribal
from tributary.client import Busy, InDoubt, Memory
from tributary.edges.gateway import running

ROUNDS = rounds(10)
RIVALS = 3
LEASE_S = 60
HAPPENED_BEFORE_DEATH = {Point.AFTER_EFFECT, Point.BEFORE_COMPLETE, Point.COMPLETED, Point.AT_THE_END}
IN_DOUBT_AFTER_DEATH = set(Point) - {Point.BEFORE_BEGIN, Point.COMPLETED, Point.AT_THE_END}


@pytest.fixture
def url(tribal: Tribal) -> Iterator[str]:
    with running(tribal.memory) as started:
        yield started.url


@pytest.fixture
def rival(tribal: Tribal, url: str) -> Iterator[Memory]:
    with Memory(url, tribal.token("rival"), environment={}) as memory:
        yield memory


@pytest.fixture
def curator(tribal: Tribal, url: str) -> Iterator[Memory]:
    with Memory(url, tribal.curator_token, environment={}) as memory:
        yield memory


def killed(order: Order) -> None:
    """Has a process carry out the order, which kills it."""
    done = subprocess.run(
        [sys.executable, acting.__file__],
        input=json.dumps(dataclasses.asdict(order)) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == ""


def count(counter: Path) -> int:
    return counter.read_text().count("happened") if counter.exists() else 0


def asked(memory: Memory, key: str, counter: Path) -> str:
    """Returns what one who comes later is told: the result, or why it is not carried out."""
    try:
        result = memory.once(key, lambda: have_effect(counter), wait_s=0, lease_s=LEASE_S)
    except (Busy, InDoubt) as refused:
        return refused.code
    assert result == "happened"
    return "happened"


@pytest.mark.timeout(60 + 6 * ROUNDS)
def test_an_effect_never_happens_twice_wherever_its_holder_is_killed(
    tribal: Tribal, url: str, rival: Memory, curator: Memory, tmp_path: Path
) -> None:
    token = tribal.token("mortal")
    for number in range(max(ROUNDS, len(Point))):
        point = tuple(Point)[number % len(Point)]
        key, counter = f"effect:{number}", tmp_path / f"{number}"
        killed(Order(url=url, token=token, key=key, counter=str(counter), point=point))
        assert count(counter) == (point in HAPPENED_BEFORE_DEATH)
        with ThreadPoolExecutor(RIVALS) as pool:
            told = set(pool.map(lambda _, key=key, counter=counter: asked(rival, key, counter), range(RIVALS)))
        # while the lease runs nobody knows that the holder is dead
        assert told <= ({"busy"} if point in IN_DOUBT_AFTER_DEATH else {"busy", "happened"}), point
        assert count(counter) <= 1
        tribal.clock.advance(seconds=LEASE_S)
        told_later = asked(rival, key, counter)
        assert told_later == ("in_doubt" if point in IN_DOUBT_AFTER_DEATH else "happened"), point
        if told_later == "in_doubt":
            (doubtful,) = curator.actions.list("in_doubt")
            happened = count(counter) == 1
            result = "happened" if happened else None
            curator.actions.reconcile(doubtful, happened=happened, rationale="the file was looked at", result=result)
            assert asked(rival, key, counter) == "happened"
        assert count(counter) == 1, point


@pytest.mark.parametrize("point", [Point.BEFORE_EFFECT, Point.AFTER_EFFECT])
def test_without_the_ledger_a_repeat_after_a_death_has_the_effect_twice(url: str, point: Point, tmp_path: Path) -> None:
    """The control: what whoever starts again without a record of it cannot tell."""
    counter = tmp_path / "counter"
    killed(Order(url=url, token="none", key="k", counter=str(counter), point=point, once=False))
    have_effect(counter)
    assert count(counter) == (2 if point in HAPPENED_BEFORE_DEATH else 1)


def test_a_repeat_under_the_idempotency_key_of_a_dead_holder_would_have_the_effect_twice(
    tribal: Tribal, rival: Memory, tmp_path: Path
) -> None:
    """The control of what `once` does with keys: an idempotency key belongs to one process, and a restart makes another."""
    counter = tmp_path / "counter"
    for _ in range(2):  # the second is the first one's successor
        begun = rival.actions.begin("effect", idempotency_key="made-again-by-a-restart")
        assert begun.outcome == "granted"
        have_effect(counter)
    assert count(counter) == 2
