"""How often the gardener runs makes no difference: every 10 minutes for 90 days, or once at the end."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import cast
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from tests.conftest import database_at
from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.gardens import backdate
from tests.tribes import Tribal, open_tribal
from tests.unit.test_core_eviction import applied_at, looks_at_now_only
from tributary.core.confidence import HALF_LIFE_DAYS, PRIOR_WEIGHT, WITHERED_BELOW
from tributary.core.curation import Ending
from tributary.core.eviction import Belief, endings
from tributary.core.garden import Rule
from tributary.core.lesson import Kind
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory
from tributary.service.wiring import Adapters

DAYS = 90
EVERY = timedelta(hours=1)
LESSONS = 80
CAPACITY = 40

Fate = tuple[str, str | None, str | None]
"""Status, and of its last event the cause and the instant from which on it was due."""


@dataclass
class SteppedClock:
    """A clock that stands still until it is moved on."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


def sow(tribal: Tribal, chance: random.Random) -> None:
    """Learns lessons of every kind, age and protection; some are confirmed, some contradicted, also by what was once rejected."""
    agents = [tribal.agent(f"agent-{number}") for number in range(4)]
    now = datetime.now(UTC)

    def within(days: float) -> datetime:
        return now + timedelta(days=chance.uniform(0, days))

    learned: list[UUID] = []
    for number in range(LESSONS):
        lesson = tribal.learn(
            chance.choice(agents),
            f"fact {number}",
            subject=f"matter {number}",
            kind=list(Kind)[number % len(Kind)],
            confidence=chance.choice((0.1, 0.3, 0.5, 0.7, 0.9)),
            valid_until=within(80) if chance.random() < 0.25 else None,
            keep_until=within(60) if chance.random() < 0.35 else None,
        ).lesson
        assert lesson is not None
        learned.append(lesson.lesson_id)
    for number, lesson_id in enumerate(learned):
        for agent in chance.sample(agents, chance.choice((0, 0, 1, 3))):
            tribal.memory.reinforce(agent, lesson_id)
        if chance.random() < 0.3:
            said = tribal.learn(chance.choice(agents), f"not fact {number}", subject=f"matter {number}")
            if said.dispute_id is not None and number % 2:
                tribal.memory.curate.resolve(tribal.curator, said.dispute_id, Ending.REJECTED, rationale="it was looked at")
                again = tribal.learn(tribal.agent(f"stubborn-{number}"), f"not fact {number}", subject=f"matter {number}")
                assert again.precedent is not None
    for lesson_id in learned:
        if chance.random() < 0.6:  # the others are in their grace
            backdate(tribal, lesson_id, days=chance.uniform(0, 60))
    policy = tribal.memory.curate.policy(tribal.curator)
    tribal.memory.curate.set_policy(tribal.curator, replace(policy, capacity=CAPACITY))


@contextmanager
def copied(url: str) -> Iterator[str]:
    """A copy of a database that nobody is connected to."""
    original = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
    copy = f"{original}_copy"
    with psycopg.connect(database_at(url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(copy), sql.Identifier(original)))
        try:
            yield database_at(url, copy)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(copy)))


def reopened(tribal: Tribal, url: str, clock: SteppedClock) -> Memory:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, "connections": 2})
    adapters = Adapters(embedder=HashedEmbedder(), judge=RuledJudge(within_a_subject), screen=WordScreen(), now=clock)
    return open_memory(settings, adapters=adapters)


def fates(url: str) -> dict[UUID, Fate]:
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            """SELECT DISTINCT ON (l.lesson_id) l.lesson_id, l.status, e.details ->> 'cause', e.details ->> 'since'
               FROM tributary.lesson l JOIN tributary.lesson_event e USING (tribe_id, lesson_id)
               ORDER BY l.lesson_id, e.tick DESC, e.seq DESC"""
        ).fetchall()
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


def beliefs(url: str) -> list[Belief]:
    """Returns the believed lessons, counted by hand and not by the gardener's own query."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            """SELECT l.lesson_id, l.kind, l.confidence, l.learned_at, l.activated_at, l.valid_until, l.keep_until,
                      ARRAY(SELECT f.at FROM tributary.confirmation f WHERE f.lesson_id = l.lesson_id),
                      (SELECT count(DISTINCT o.agent_id)
                       FROM tributary.dispute_about b JOIN tributary.dispute d USING (dispute_id)
                       JOIN tributary.lesson o ON o.lesson_id = d.lesson_id
                       WHERE b.lesson_id = l.lesson_id AND d.kind = 'conflict' AND d.state = 'open' AND d.precedent IS NULL)
               FROM tributary.lesson l WHERE l.believed"""
        ).fetchall()
    return [
        Belief(
            lesson_id=row[0],
            kind=Kind(row[1]),
            confidence=row[2],
            confirmations=len(row[7]),
            contradictions=row[8],
            learned_at=row[3].astimezone(UTC),
            activated_at=row[4].astimezone(UTC),
            last_confirmed_at=max([row[3], *row[7]]).astimezone(UTC),
            valid_until=None if row[5] is None else row[5].astimezone(UTC),
            keep_until=None if row[6] is None else row[6].astimezone(UTC),
        )
        for row in rows
    ]


@pytest.mark.timeout(600)
def test_every_hour_for_ninety_days_comes_to_the_same_lessons_as_once_at_the_end(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        sow(tribal, random.Random(7))
        tribe_id = tribal.tribe_id
    sown = beliefs(database_url)
    start = datetime.now(UTC)
    last = start + timedelta(days=DAYS)
    with copied(database_url) as late_url:
        often, late = SteppedClock(start), SteppedClock(last)
        stamped = evicted = 0
        with reopened(tribal, database_url, often) as memory:
            for step in range(DAYS * 24 + 1):
                often.at = start + step * EVERY
                report = memory.gardener.run(tribe_id, budget_s=None)
                stamped += report.rule(Rule.STAMP).done
                evicted += report.rule(Rule.EVICT).done
        with reopened(tribal, late_url, late) as memory:
            once = memory.gardener.run(tribe_id, budget_s=None)
        assert fates(database_url) == fates(late_url)
        assert (once.rule(Rule.STAMP).done, once.rule(Rule.EVICT).done) == (stamped, evicted)
    causes = {cause for _, cause, _ in fates(database_url).values()}
    assert causes >= {"expired", "withered", "capacity"}
    assert len([one for one in sown if one.contradictions]) > 5
    assert len([one for one in sown if one.confirmations]) > 5
    _controls(sown, start, last)


def _controls(sown: list[Belief], start: datetime, last: datetime) -> None:
    """Over the same lessons, a rule that looks at now only comes to something else when it is applied more often."""
    daily = [start + timedelta(days=day) for day in range(1, DAYS + 1)]
    assert applied_at(endings, sown, daily, CAPACITY, since=start) == applied_at(endings, sown, [last], CAPACITY, since=start)
    now_only = looks_at_now_only
    assert applied_at(now_only, sown, daily, CAPACITY, since=start) != applied_at(now_only, sown, [last], CAPACITY, since=start)


def test_the_gardeners_query_counts_as_recall_does_and_gives_first_what_lapses_first(database_url: str) -> None:
    """Its order is only an estimate, but of a page of it nothing that is due may be left out."""
    from psycopg.rows import dict_row
    from psycopg.types.json import Jsonb

    from tributary.core.eviction import lapse_of

    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        sow(tribal, random.Random(11))
        again = tribal.rows(
            """SELECT count(*) AS n FROM tributary.dispute d JOIN tributary.dispute_about b USING (tribe_id, dispute_id)
               JOIN tributary.lesson l ON l.lesson_id = b.lesson_id
               WHERE l.believed AND d.state = 'open' AND d.precedent IS NOT NULL"""
        )
    assert int(str(again[0]["n"])) > 3, "some are contradicted by what a curator rejected before, which weighs nothing"
    by_hand = {one.lesson_id: one for one in beliefs(database_url)}
    half_lives = Jsonb({kind.value: days * 86_400 for kind, days in HALF_LIFE_DAYS.items()})
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        rows = connection.execute(
            "SELECT * FROM tributary.garden_beliefs_v1(%s, %s, %s, %s, NULL)",
            (tribal.tribe_id, half_lives, PRIOR_WEIGHT, WITHERED_BELOW),
        ).fetchall()
        recalled = connection.execute(
            "SELECT * FROM tributary.lesson_rows_v1(%s, %s, tributary.latest_v1())", (tribal.tribe_id, list(by_hand))
        ).fetchall()
    assert len(rows) == len(by_hand)
    of_recall = {row["lesson_id"]: row for row in cast(list[Mapping[str, object]], recalled)}
    for row in cast(list[Mapping[str, object]], rows):
        one = by_hand[cast(UUID, row["lesson_id"])]
        for name in ("kind", "confidence", "confirmations", "contradictions", "learned_at", "last_confirmed_at", "keep_until"):
            assert row[name] == getattr(one, name) == of_recall[one.lesson_id][name], name
    lapses = [lapse_of(by_hand[cast(UUID, row["lesson_id"])]).at for row in rows]
    assert all(later - earlier > -timedelta(seconds=1) for earlier, later in pairwise(lapses))


def test_what_a_recall_believes_the_gardener_does_not_end_for_a_rejected_value_that_came_again(database_url: str) -> None:
    """Two half-lives on it shows 0.225; had what was rejected any weight, 0.15, which is withered."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        fact = tribal.learn(tribal.curator, "it is 80", subject="port", kind=Kind.ENTITY_FACT, confidence=0.9).lesson
        assert fact is not None
        rejected = tribal.learn(tribal.agent("writer"), "it is 81", subject="port")
        assert rejected.dispute_id is not None
        tribal.memory.curate.resolve(tribal.curator, rejected.dispute_id, Ending.REJECTED, rationale="80 was measured")
        assert tribal.learn(tribal.agent("stubborn"), "it is 81", subject="port").precedent is not None
        tribal.clock.advance(days=2 * HALF_LIFE_DAYS[Kind.ENTITY_FACT])
        before = [one.lesson_id for one in tribal.memory.lessons(tribal.curator).lessons]
        assert before == [fact.lesson_id]
        assert tribal.memory.gardener.run(tribal.tribe_id, budget_s=None).rule(Rule.STAMP).done == 0
        assert [one.lesson_id for one in tribal.memory.lessons(tribal.curator).lessons] == before
