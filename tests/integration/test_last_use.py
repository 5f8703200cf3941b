"""When a token was last used: noted to the minute, in the one call that lets its holder in, and never in its way."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.conftest import database_at
from tests.tribes import Tribal, open_tribal
from tests.wire import Relay
from tributary.core.agent import Role
from tributary.service import Settings, open_memory

PATIENCE_S = 30


def noted(tribal: Tribal) -> tuple[object, object]:
    """Returns when the curator's token was last used, and which version of its row says so."""
    (row,) = tribal.rows("SELECT last_used_at, xmin::text AS version FROM tributary.token")
    return row["last_used_at"], row["version"]


def aged(tribal: Tribal, seconds: int) -> None:
    tribal.rows("UPDATE tributary.token SET last_used_at = clock_timestamp() - %s * interval '1 second'", seconds)


def test_the_first_use_is_noted_and_shown_with_agent_and_token(tribal: Tribal) -> None:
    worker = tribal.memory.agents.create(tribal.curator, "worker", Role.WRITER)
    before = {one.name: one.last_used_at for one in tribal.memory.desk.agents(tribal.curator).items}
    assert before["worker"] is None
    began = datetime.now(UTC)
    tribal.memory.authenticate(worker.secret)
    (token,) = tribal.memory.desk.tokens(tribal.curator, worker.agent.agent_id).items
    after = {one.name: one.last_used_at for one in tribal.memory.desk.agents(tribal.curator).items}
    assert token.last_used_at is not None
    assert token.last_used_at >= began - timedelta(seconds=1)
    assert (after["worker"], after["curator"]) == (token.last_used_at, before["curator"])


def test_an_agents_last_use_is_that_of_its_latest_token(tribal: Tribal) -> None:
    aged(tribal, 3600)
    tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id)  # never used
    newest = tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id)
    tribal.memory.authenticate(newest.secret)
    (agent,) = tribal.memory.desk.agents(tribal.curator).items
    tokens = {one.token_id: one.last_used_at for one in tribal.memory.desk.tokens(tribal.curator, agent.agent_id).items}
    assert agent.last_used_at == tokens[newest.token_id]
    assert list(tokens.values()).count(None) == 1


def test_a_use_within_a_minute_of_the_last_writes_nothing(tribal: Tribal) -> None:
    aged(tribal, 30)
    before = noted(tribal)
    for _ in range(3):
        tribal.memory.authenticate(tribal.curator_token)
    assert noted(tribal) == before


def test_a_use_after_a_minute_is_noted_anew(tribal: Tribal) -> None:
    aged(tribal, 61)
    before = noted(tribal)
    tribal.memory.authenticate(tribal.curator_token)
    assert noted(tribal)[0] > before[0]  # type: ignore[operator]  # both are times


@pytest.mark.parametrize("ended", ["revoked_at = clock_timestamp()", "expires_at = clock_timestamp()"])
def test_what_is_refused_is_not_noted_as_a_use(tribal: Tribal, ended: str) -> None:
    aged(tribal, 3600)
    tribal.rows(f"UPDATE tributary.token SET {ended}")
    before = noted(tribal)
    with pytest.raises(Exception, match="unknown, expired or revoked"):
        tribal.memory.authenticate(tribal.curator_token)
    assert noted(tribal) == before


def test_a_database_that_is_read_only_lets_in_and_writes_nothing(tribal: Tribal) -> None:
    """A read replica is one: in recovery, transaction_read_only is on and cannot be switched off."""
    aged(tribal, 3600)
    before = noted(tribal)
    url = f"{tribal.url}&options=-c%20default_transaction_read_only%3Don"
    with open_memory(Settings.model_validate({"TRIBUTARY_DATABASE_URL": url}), adapters=tribal.adapters) as replica:
        assert replica.authenticate(tribal.curator_token) == tribal.curator
    assert noted(tribal) == before
    tribal.memory.authenticate(tribal.curator_token)
    assert noted(tribal) != before


def test_nobody_waits_for_the_tokens_row_to_be_let_in(tribal: Tribal) -> None:
    aged(tribal, 3600)
    before = noted(tribal)
    with psycopg.connect(tribal.url) as holder:
        holder.execute("SELECT FROM tributary.token FOR UPDATE")
        assert tribal.memory.authenticate(tribal.curator_token) == tribal.curator
        holder.rollback()
    assert noted(tribal) == before


def test_noting_a_use_touches_no_index(tribal: Tribal) -> None:
    def updates() -> tuple[int, int]:
        (row,) = tribal.rows(
            "SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relid = 'tributary.token'::regclass"
        )
        return int(str(row["all"])), int(str(row["hot"]))

    before = updates()
    for _ in range(5):
        aged(tribal, 61)
        with open_memory(tribal.settings, adapters=tribal.adapters) as brief:  # a session tells its figures when it ends
            brief.authenticate(tribal.curator_token)
    until = time.monotonic() + PATIENCE_S
    while updates()[0] < before[0] + 10 and time.monotonic() < until:
        time.sleep(0.05)
    made, hot = updates()
    assert made >= before[0] + 10
    assert made - hot == before[0] - before[1]


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


def test_letting_in_and_noting_it_is_one_call(relayed: tuple[Tribal, Relay]) -> None:
    tribal, relay = relayed
    for seconds in (3600, 0):
        aged(tribal, seconds)
        relay.spoken.clear()
        tribal.memory.authenticate(tribal.curator_token)
        assert relay.spoken.round_trips == 1
