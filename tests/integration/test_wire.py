"""What the code says to PostgreSQL: nothing that pins a pooled session, and no more round trips than promised."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.charging import call
from tests.conftest import database_at
from tests.tribes import SEEN, Tribal, open_tribal
from tests.wire import Relay
from tributary.core.decision import Outcome
from tributary.core.lesson import Draft
from tributary.core.spending import account

PINNING = re.compile(r"^\s*(SET|RESET|DECLARE|LISTEN|PREPARE|EXECUTE|DEALLOCATE|DISCARD|BEGIN)\b", re.IGNORECASE)
PINNED_FROM_BYTES = 16 * 1024


@pytest.fixture
def relayed(database_url: str) -> Iterator[tuple[Tribal, Relay]]:
    parts = conninfo_to_dict(database_url)
    if not str(parts["host"]).startswith("/"):
        pytest.skip("the relay speaks to a Unix socket, and this server has none")
    target = f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"
    with tempfile.TemporaryDirectory(prefix="relay") as folder, Relay(Path(folder), target) as relay:
        url = database_at(f"postgresql://postgres@/x?host={folder}&port=5432", str(parts["dbname"]))
        with open_tribal(url, connections=1) as tribal:
            yield tribal, relay


def _draft(text: str) -> Draft:
    return Draft(text=text, situation="deploying", source=SEEN, subject="deploy-api")


def test_a_learn_takes_at_most_three_round_trips_and_a_recall_one(relayed: tuple[Tribal, Relay]) -> None:
    tribal, relay = relayed
    tribal.learn(tribal.curator, "the cache must be warm")
    tribal.recall("cache")
    relay.spoken.clear()
    tribal.learn(tribal.curator, "the deploy API needs the header X-Batch: true")
    assert relay.spoken.round_trips == 3
    relay.spoken.clear()
    tribal.memory.learn(tribal.curator, _draft("the rollout waits for the migration"), idempotency_key="k")
    assert relay.spoken.round_trips == 3
    relay.spoken.clear()
    tribal.recall("cache")
    assert relay.spoken.round_trips == 1
    relay.spoken.clear()
    tribal.memory.lessons(tribal.curator)
    assert relay.spoken.round_trips == 1
    relay.spoken.clear()
    tribal.memory.history.changes(tribal.curator)
    assert relay.spoken.round_trips == 1
    relay.spoken.clear()
    tribal.memory.usage.flush()
    assert relay.spoken.round_trips == 1, "however many reads were counted"
    relay.spoken.clear()
    with tribal.memory.ledger.on(tribal.tribe_id):
        account().charge(call())
        account().charge(call())
        tribal.recall("cache")
        assert relay.spoken.round_trips == 1
    assert relay.spoken.round_trips == 2, "what was charged is written down once the answer is there"


def test_nothing_is_said_that_pins_a_pooled_session(relayed: tuple[Tribal, Relay]) -> None:
    tribal, relay = relayed
    relay.spoken.clear()
    writer = tribal.memory.authenticate(tribal.curator_token)
    for number in range(12):
        learned = tribal.memory.learn(writer, _draft(f"flag {number} is on"), idempotency_key=f"k{number}")
        tribal.recall("flag", limit=10)
        assert learned.lesson is not None
        tribal.memory.lesson(writer, learned.lesson.lesson_id)
        tribal.memory.lessons(writer)
        tribal.memory.history.timeline(writer, learned.lesson.lesson_id)
        tribal.memory.history.changes(writer, after=number, wait_s=1)
    tribal.memory.stats(writer)
    assert tribal.memory.status(writer).usable
    tribal.memory.usage.flush()
    with tribal.memory.ledger.on(tribal.tribe_id):
        account().charge(call())
    tribal.memory.costs(writer)
    tribal.memory.audit_refusal(writer, action="test", code="forbidden", detail="for the wire")
    tribal.memory.health()
    assert relay.spoken.statement_names <= {""}
    assert [text for text in relay.spoken.texts if PINNING.match(text)] == []
    assert max(len(text.encode()) for text in relay.spoken.texts) < PINNED_FROM_BYTES


def test_the_relay_would_hear_a_named_statement_and_a_set(relayed: tuple[Tribal, Relay]) -> None:
    import psycopg

    tribal, relay = relayed
    relay.spoken.clear()
    with psycopg.connect(tribal.url, autocommit=True, prepare_threshold=0) as connection:
        connection.execute("SELECT %s", (1,))
        connection.execute("SET work_mem = '8MB'")
    assert any(relay.spoken.statement_names)
    assert [text for text in relay.spoken.texts if PINNING.match(text)] == ["SET work_mem = '8MB'"]


def test_a_connection_cut_between_calls_costs_the_caller_nothing(relayed: tuple[Tribal, Relay]) -> None:
    tribal, relay = relayed
    tribal.learn(tribal.curator, "the cache must be warm")
    relay.cut()
    assert tribal.learn(tribal.curator, "the deploy API needs the header X-Batch: true").outcome is Outcome.LEARNED
    relay.cut()
    assert len(tribal.recall("cache header").hits) == 2
