"""The operator's side: tribes, agents, tokens, and who is let in with them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.doubles import SetClock, WordScreen
from tests.tribes import SEEN, Tribal
from tributary.access import new_token, token_hash
from tributary.core.agent import NewToken, Role
from tributary.core.errors import (
    BadSetting,
    InvalidRequest,
    NotFound,
    NotMigrated,
    TributaryError,
    Unauthenticated,
    WrongStanding,
)
from tributary.core.lesson import Draft
from tributary.core.requests import Question
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.operator import Operator
from tributary.service.wiring import Adapters
from tributary.store.level import BASELINE

TABLES = ("tribe", "agent", "token", "space", "tribe_space")
BAD_NAMES = ["", " ", "-x", "a b", "x" * 101, "ä", "a\x00", "a'--"]


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with open_operator(settings_of(database_url), adapters=adapters()) as opened:
        yield opened


@pytest.fixture
def memory(database_url: str) -> Iterator[Memory]:
    with open_memory(settings_of(database_url), adapters=adapters()) as opened:
        yield opened


def settings_of(url: str) -> Settings:
    return Settings.model_validate({"TRIBUTARY_DATABASE_URL": url})


def adapters(dimension: int = 64) -> Adapters:
    return Adapters(embedder=HashedEmbedder(dimension=dimension), screen=WordScreen())


def counts(url: str) -> dict[str, int]:
    """Returns how many rows each table of the operator's has."""
    with psycopg.connect(url) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM tributary.{table}".encode()).fetchall()[0][0] for table in TABLES
        }


def test_a_tribe_comes_with_a_space_to_serve_from_and_a_curator_that_is_let_in(operator: Operator, memory: Memory) -> None:
    made = operator.create_tribe("payments", curator="ada")
    principal = memory.authenticate(made.token.secret)
    assert (principal.tribe_id, principal.agent_id) == (made.tribe.tribe_id, made.token.agent.agent_id)
    assert (principal.name, principal.role) == ("ada", Role.CURATOR)
    assert (made.tribe.name, made.tribe.clock) == ("payments", 0)
    assert operator.tribes() == (made.tribe,)
    assert [replace(one, last_used_at=None) for one in operator.agents("payments")] == [made.token.agent]
    assert memory.lessons(principal).lessons == ()


@pytest.mark.parametrize(
    "wrong",
    [{"curator": "no such name!"}, {"curator": ""}, {"days": 0}, {"days": 3651}, {"days": -1}],
    ids=str,
)
def test_a_tribe_is_made_wholly_or_not_at_all(operator: Operator, database_url: str, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        operator.create_tribe("payments", **wrong)  # type: ignore[arg-type]  # faults on purpose
    assert caught.value.field == ("days" if "days" in wrong else "name")
    assert set(counts(database_url).values()) == {0}
    assert operator.create_tribe("payments").tribe.name == "payments"


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_of_tribes_and_agents_are_checked(operator: Operator, name: str) -> None:
    with pytest.raises(InvalidRequest, match="name: must be 1 to 100"):
        operator.create_tribe(name)
    operator.create_tribe("payments")
    with pytest.raises(InvalidRequest, match="name: must be 1 to 100"):
        operator.create_agent("payments", name, Role.WRITER)
    assert len(operator.agents("payments")) == 1


def test_a_name_that_is_taken_is_refused_and_changes_nothing(operator: Operator, database_url: str) -> None:
    operator.create_tribe("payments")
    operator.create_agent("payments", "worker", Role.WRITER)
    before = counts(database_url)
    with pytest.raises(WrongStanding, match="a tribe named 'payments' already"):
        operator.create_tribe("payments")
    with pytest.raises(WrongStanding, match="an agent named 'worker' already"):
        operator.create_agent("payments", "worker", Role.READER)
    assert counts(database_url) == before


def test_names_are_told_apart_by_case_and_two_tribes_may_have_agents_of_one_name(operator: Operator) -> None:
    for name in ("payments", "Payments"):
        operator.create_tribe(name, curator="ada")
    assert sorted(tribe.name for tribe in operator.tribes()) == ["Payments", "payments"]


def test_of_two_that_make_one_tribe_at_once_one_succeeds(database_url: str) -> None:
    outcomes: list[str] = []
    together = threading.Barrier(4)

    def make() -> None:
        with open_operator(settings_of(database_url), adapters=adapters()) as operator:
            operator.tribes()  # connected
            together.wait(30)
            try:
                operator.create_tribe("payments")
                outcomes.append("made")
            except TributaryError as error:
                outcomes.append(error.code)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", *["wrong_standing"] * 3]
    assert counts(database_url) == {"tribe": 1, "agent": 1, "token": 1, "space": 1, "tribe_space": 1}


def test_what_is_not_there_is_said_to_be_missing(operator: Operator) -> None:
    for call in (
        lambda: operator.create_agent("nobody", "a", Role.WRITER),
        lambda: operator.agents("nobody"),
        lambda: operator.revoke_agent("nobody", "a"),
        lambda: operator.build_index("nobody"),
    ):
        with pytest.raises(NotFound, match="no tribe named 'nobody'"):
            call()
    operator.create_tribe("payments")
    with pytest.raises(NotFound, match="'payments' has no agent named 'a'"):
        operator.revoke_agent("payments", "a")


@pytest.mark.parametrize("days", [1, 3650])
def test_a_token_lasts_as_many_days_as_asked_by_the_operators_clock(database_url: str, days: int) -> None:
    clock = SetClock()
    clock.advance(days=-2)
    with open_operator(settings_of(database_url), adapters=Adapters(embedder=HashedEmbedder(), now=clock)) as operator:
        before = clock()
        made = operator.create_tribe("payments", days=days)
        assert before + timedelta(days=days) <= made.token.expires_at <= clock() + timedelta(days=days)


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_a_token_of_no_days_or_of_too_many_is_refused(operator: Operator, days: int) -> None:
    operator.create_tribe("payments")
    with pytest.raises(InvalidRequest, match="days: must be from 1 to 3650"):
        operator.create_agent("payments", "a", Role.WRITER, days=days)


def test_an_expired_token_is_refused_while_its_agents_other_token_is_not(
    database_url: str, operator: Operator, memory: Memory
) -> None:
    fresh = operator.create_tribe("payments").token
    clock = SetClock()
    clock.advance(days=-2)
    with open_operator(settings_of(database_url), adapters=Adapters(embedder=HashedEmbedder(), now=clock)) as of_then:
        stale = of_then.create_agent("payments", "brief", Role.WRITER, days=1)
    assert stale.expires_at < datetime.now(UTC)
    _refused(memory, stale.secret)
    assert memory.authenticate(fresh.secret).name == "curator"


def test_a_revoked_agents_token_is_refused_from_then_on_and_the_first_time_is_kept(operator: Operator, memory: Memory) -> None:
    operator.create_tribe("payments")
    made = operator.create_agent("payments", "leaver", Role.WRITER)
    assert memory.authenticate(made.secret).name == "leaver"
    first = operator.revoke_agent("payments", "leaver")
    assert first.revoked_at is not None
    _refused(memory, made.secret)
    assert operator.revoke_agent("payments", "leaver") == first
    assert [one.revoked_at is None for one in operator.agents("payments")] == [True, False]
    with pytest.raises(WrongStanding, match="already"):
        operator.create_agent("payments", "leaver", Role.WRITER)


def test_a_revoked_token_is_refused_while_its_agent_goes_on(tribal: Tribal) -> None:
    tribal.rows("UPDATE tributary.token SET revoked_at = clock_timestamp()")
    _refused(tribal.memory, tribal.curator_token)


def _refused(memory: Memory, secret: str) -> None:
    with pytest.raises(Unauthenticated, match="unknown, expired or revoked") as caught:
        memory.authenticate(secret)
    assert secret not in caught.value.detail


@pytest.mark.parametrize(
    "token",
    ["", "trb_", "trb_" + "a" * 42, "trb_" + "a" * 44, "TRB_" + "a" * 43, "trb_" + "é" * 43, "trb_" + "a" * 43 + "\n", "\x00"],
)
def test_what_has_no_tokens_shape_is_refused_without_asking_the_database(token: str) -> None:
    with (
        open_memory(settings_of("postgresql://nobody@127.0.0.1:1/nowhere"), adapters=adapters()) as memory,
        pytest.raises(Unauthenticated, match="starts with 'trb_'"),
    ):
        memory.authenticate(token)


def test_a_token_of_the_right_shape_that_nobody_made_is_refused(memory: Memory) -> None:
    _refused(memory, new_token())


def test_tokens_have_256_random_bits_and_a_mark_that_scanners_know() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"trb_[A-Za-z0-9_-]{43}", one) for one in made)
    assert len({len(token_hash(one)) for one in made}) == 1
    assert len({token_hash(one) for one in made}) == 100


def test_a_tokens_secret_is_stored_nowhere(operator: Operator, database_url: str) -> None:
    tokens: list[NewToken] = [operator.create_tribe("payments").token]
    tokens += [operator.create_agent("payments", f"a-{role.value}", role) for role in Role]
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary'").fetchall()
        stored = "\n".join(
            str(row["row"])
            for name in names
            for row in connection.execute(f"SELECT x::text AS row FROM tributary.{name['tablename']} x".encode()).fetchall()
        )
    assert len(names) > 10
    for token in tokens:
        secret = token.secret
        assert token_hash(secret).hex() in stored
        part = secret.removeprefix("trb_")[:12]
        for form in (part, part.encode().hex()):
            assert form not in stored


def test_an_embedder_of_another_space_than_the_tribes_is_refused_with_both_named(tribal: Tribal) -> None:
    other = HashedEmbedder(dimension=128)
    assert other.space.name != HashedEmbedder().space.name
    with open_memory(tribal.settings, adapters=Adapters(embedder=other, screen=WordScreen())) as memory:
        draft = Draft(text="t", situation="s", source=SEEN)
        calls: tuple[Callable[[], object], ...] = (
            lambda: memory.learn(tribal.curator, draft),
            lambda: memory.recall(tribal.curator, Question(query="q")),
        )
        for call in calls:
            with pytest.raises(BadSetting) as caught:
                call()
            assert caught.value.detail.startswith("TRIBUTARY_EMBEDDER: ")
            assert f"'{other.space.name}'" in caught.value.detail
            assert f"'{HashedEmbedder().space.name}'" in caught.value.detail
    assert tribal.status_counts() == {}
    assert tribal.learn(tribal.curator, "the right space serves").lesson is not None


def test_two_tribes_of_one_database_may_serve_from_two_spaces(database_url: str) -> None:
    for name, dimension in (("one", 64), ("two", 128), ("three", 64)):
        with open_operator(settings_of(database_url), adapters=adapters(dimension)) as operator:
            operator.create_tribe(name)
    assert counts(database_url)["space"] == 2
    assert counts(database_url)["tribe_space"] == 3


def test_before_the_schema_is_there_the_operator_is_told_to_migrate(empty_database_url: str) -> None:
    with open_operator(settings_of(empty_database_url), adapters=adapters()) as operator:
        with pytest.raises(NotMigrated, match="tributary migrate"):
            operator.create_tribe("payments")
        assert operator.migrate() == BASELINE
        assert operator.create_tribe("payments").tribe.name == "payments"


def test_after_a_lost_connection_the_operator_connects_anew(operator: Operator, database_url: str) -> None:
    operator.create_tribe("payments")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
    with pytest.raises(TributaryError) as caught:
        operator.tribes()
    assert caught.value.code == "unavailable"
    assert [tribe.name for tribe in operator.tribes()] == ["payments"]
