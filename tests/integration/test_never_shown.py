"""Over random histories of two tribes: what a recall may never show, at any tick, and what it must."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal
from tributary.core.curation import Ending, RetireCause
from tributary.core.errors import TributaryError
from tributary.core.lesson import Draft, Kind, Status
from tributary.core.requests import Recalled

STEPS = 90
ENDINGS = (Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND)


@pytest.fixture
def tribes(database_url: str) -> Iterator[list[Tribal]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(open_tribal(database_url, name=name, judge=RuledJudge(within_a_subject)))
            for name in ("one", "other")
        ]


def step(tribal: Tribal, agents: list[Principal], rng: random.Random) -> None:
    """Does one thing that changes what a tribe believes, or fails to."""
    agent, subject = rng.choice(agents), f"part-{rng.randrange(5)}"
    known = tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE tribe_id = %s ORDER BY 1", tribal.tribe_id)
    chosen = UUID(str(rng.choice(known)["lesson_id"])) if known else None
    what = rng.choice(("learn", "learn", "learn", "fleeting", "hijack", "retire", "erase", "release", "pend", "dispute", "time"))
    try:
        if what == "fleeting":
            until = tribal.clock() + timedelta(hours=rng.randrange(1, 48))
            tribal.learn(
                agent, f"cache flag {rng.randrange(9)} of {subject}", subject=subject, situation=subject, valid_until=until
            )
        elif what == "hijack":
            tribal.learn(agent, f"HIJACK the cache flag of {subject}", situation=subject)
        elif what == "pend":
            draft = Draft(text=f"cache flag {rng.randrange(9)} of {subject}", situation=subject, source=SEEN, subject=subject)
            tribal.memory.learn(agent, draft, wait=False)
        elif what == "retire" and chosen:
            tribal.memory.curate.retire(tribal.curator, chosen, rng.choice(list(RetireCause)))
        elif what == "erase" and chosen and rng.random() < 0.6:
            tribal.memory.curate.erase(tribal.curator, chosen)
        elif what == "release" and chosen:
            tribal.memory.curate.release(tribal.curator, chosen)
        elif what == "dispute":
            (dispute,) = rng.choices(tribal.memory.desk.disputes(tribal.curator).items)
            tribal.memory.curate.resolve(tribal.curator, dispute.dispute_id, rng.choice(list(ENDINGS)), rationale="seen")
        elif what == "time":
            tribal.clock.advance(hours=rng.randrange(1, 30))
            if rng.random() < 0.3:
                tribal.memory.gardener.run(tribal.tribe_id)
        else:
            kind = rng.choice((Kind.GOTCHA, Kind.ENTITY_FACT, Kind.REJECTED_HYPOTHESIS))
            tribal.learn(agent, f"cache flag {rng.randrange(9)} of {subject}", subject=subject, situation=subject, kind=kind)
    except (TributaryError, IndexError):
        pass  # what cannot be done to this lesson now


def check(found: Recalled, tribal: Tribal, *, tick: int, at: datetime, stale: bool) -> None:
    """Compares an answer with what the tables say of that tick, read behind the product's back."""
    shown = [hit.lesson.lesson_id for hit in found.hits]
    believed = tribal.rows(
        """SELECT lesson_id, valid_from, CASE WHEN superseded_by IS NOT NULL AND deactivated_tick <= %s
                  THEN least(valid_until, deactivated_at) ELSE valid_until END AS valid_until
           FROM tributary.lesson WHERE tribe_id = %s AND activated_tick <= %s
             AND (deactivated_tick IS NULL OR deactivated_tick > %s) AND status <> 'erased'
             AND rejected_as IS DISTINCT FROM 'injection'""",
        tick,
        tribal.tribe_id,
        tick,
        tick,
    )
    allowed = {UUID(str(row["lesson_id"])): row for row in believed}
    assert set(shown) <= set(allowed)
    assert len(shown) == len(set(shown))
    for hit in found.hits:
        assert (hit.lesson.status, bool(hit.lesson.text)) == (Status.ACTIVE, True)
        until = allowed[hit.lesson.lesson_id]["valid_until"]
        assert stale or until is None or (isinstance(until, datetime) and until > at)
        assert hit.lesson.kind is not Kind.REJECTED_HYPOTHESIS or hit.label == "tried, did not help"
    rivals = tribal.rows("SELECT a, b FROM tributary.rival WHERE tribe_id = %s AND since_tick <= %s", tribal.tribe_id, tick)
    assert not any({UUID(str(row["a"])), UUID(str(row["b"]))} <= set(shown) for row in rivals)


@pytest.mark.parametrize("seed", range(3))
def test_no_recall_shows_what_is_not_believed_or_another_tribes_at_any_tick(tribes: list[Tribal], seed: int) -> None:
    rng = random.Random(seed)
    agents = {one.name: [one.curator, *(one.agent(f"writer-{number}") for number in range(2))] for one in tribes}
    then: dict[tuple[str, int], tuple[datetime, list[UUID]]] = {}
    for _ in range(STEPS):
        tribal = rng.choice(tribes)
        step(tribal, agents[tribal.name], rng)
        stale = rng.random() < 0.3
        found = tribal.recall("cache flag", limit=100, include_stale=stale)
        searched = found.receipt.searched[0]
        assert searched.tribe == tribal.tribe_id
        check(found, tribal, tick=searched.tick, at=searched.at, stale=stale)
        if not stale:
            then[tribal.name, searched.tick] = (searched.at, [hit.lesson.lesson_id for hit in found.hits])
    assert len(then) > STEPS / 3
    statuses = {row["status"] for row in tribes[0].rows("SELECT DISTINCT status FROM tributary.lesson")}
    assert len(statuses) >= 5, statuses
    for (name, tick), (at, shown) in then.items():
        tribal = next(one for one in tribes if one.name == name)
        found = tribal.recall("cache flag", limit=100, as_of=tick)
        check(found, tribal, tick=tick, at=found.receipt.searched[0].at, stale=False)
        again = tribal.recall("cache flag", limit=100, as_of=at)
        gone = tribal.rows(
            "SELECT lesson_id FROM tributary.lesson WHERE tribe_id = %s AND (status = 'erased' OR rejected_as = 'injection')",
            tribal.tribe_id,
        )
        missing = {UUID(str(row["lesson_id"])) for row in gone}
        if again.receipt.searched[0].tick == tick:
            assert [hit.lesson.lesson_id for hit in again.hits] == [one for one in shown if one not in missing]
