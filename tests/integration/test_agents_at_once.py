"""Curators that act on one another at the same instant, and changes whose reply was lost on the way from the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.access import MOST_AGENTS, MOST_TOKENS, new_token, token_hash
from tributary.core.agent import Principal, Role
from tributary.core.errors import TributaryError, WrongStanding
from tributary.core.ids import new_id
from tributary.service import open_operator
from tributary.store import statement

PATIENCE_S = 30


@contextmanager
def gate_held(tribal: Tribal) -> Iterator[Callable[[int], None]]:
    """Holds the tribe's row while the block runs; what it gives waits until so many others wait for that row."""
    with psycopg.connect(tribal.url) as holder:
        holder.execute("SELECT FROM tributary.tribe WHERE tribe_id = %s FOR NO KEY UPDATE", (tribal.tribe_id,))

        def until_waiting(wanted: int) -> None:
            until = time.monotonic() + PATIENCE_S
            while time.monotonic() < until:
                found = tribal.rows(
                    """SELECT count(*) AS n FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()"""
                )
                if found == [{"n": wanted}]:
                    return
                time.sleep(0.02)
            pytest.fail("they never came to wait for the tribe's row")

        yield until_waiting
        holder.rollback()


def endings(tribal: Tribal, calls: list[Callable[[], object]]) -> list[str]:
    """Runs the calls while all of them wait for the gate, then lets them through; returns how each ended."""
    with ThreadPoolExecutor(len(calls)) as pool:
        with gate_held(tribal) as until_waiting:
            running: list[Future[object]] = [pool.submit(call) for call in calls]
            until_waiting(len(calls))
        errors = [one.exception(PATIENCE_S) for one in running]
    assert all(error is None or isinstance(error, TributaryError) for error in errors)
    return [error.code if isinstance(error, TributaryError) else "done" for error in errors]


def curators_left(tribal: Tribal) -> int:
    found = tribal.rows("SELECT 1 FROM tributary.agent WHERE role = 'curator' AND revoked_at IS NULL")
    return len(found)


def test_of_two_curators_that_revoke_each_other_at_once_exactly_one_succeeds(tribal: Tribal) -> None:
    second = tribal.agent("second", Role.CURATOR)
    agents = tribal.memory.agents
    ended = endings(
        tribal,
        [lambda: agents.revoke(tribal.curator, second.agent_id), lambda: agents.revoke(second, tribal.curator.agent_id)],
    )
    assert sorted(ended) == ["done", "forbidden"]
    assert curators_left(tribal) == 1


def test_of_two_curators_that_step_down_at_once_exactly_one_may(tribal: Tribal) -> None:
    second = tribal.agent("second", Role.CURATOR)

    def step_down(agent: Principal) -> Callable[[], object]:
        return lambda: tribal.memory.agents.set_role(agent, agent.agent_id, Role.READER)

    assert sorted(endings(tribal, [step_down(tribal.curator), step_down(second)])) == ["done", "wrong_standing"]
    assert curators_left(tribal) == 1


def test_of_two_that_take_one_name_at_once_one_succeeds(tribal: Tribal) -> None:
    def make() -> object:
        return tribal.memory.agents.create(tribal.curator, "worker", Role.WRITER)

    assert sorted(endings(tribal, [make] * 3)) == ["done", "wrong_standing", "wrong_standing"]


def test_tokens_asked_for_at_once_do_not_exceed_their_limit(tribal: Tribal) -> None:
    for _ in range(MOST_TOKENS - 2):
        tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id)

    def another() -> object:
        return tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id)

    assert sorted(endings(tribal, [another] * 4)) == ["done", "wrong_standing", "wrong_standing", "wrong_standing"]


@pytest.mark.parametrize("act", ["create", "rotate", "revoke", "revoke_token"])
def test_the_operator_waits_for_curators_too(tribal: Tribal, act: str) -> None:
    worker = tribal.memory.agents.create(tribal.curator, "worker", Role.WRITER)
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        acts: dict[str, Callable[[], object]] = {
            "create": lambda: operator.create_agent(tribal.name, "other", Role.READER),
            "rotate": lambda: operator.rotate(tribal.name, "worker"),
            "revoke": lambda: operator.revoke_agent(tribal.name, "worker"),
            "revoke_token": lambda: operator.revoke_token(tribal.name, worker.token_id),
        }
        assert endings(tribal, [acts[act]]) == ["done"]


def test_a_learn_and_a_change_of_its_writers_role_are_put_in_order(tribal: Tribal) -> None:
    writer = tribal.agent("writer")
    ready = threading.Event()

    def demote() -> object:
        ready.set()
        return tribal.memory.agents.set_role(tribal.curator, writer.agent_id, Role.READER)

    with ThreadPoolExecutor(2) as pool:
        with gate_held(tribal) as until_waiting:
            demoted = pool.submit(demote)
            until_waiting(1)  # so it is the first in the queue for the row
            taught = pool.submit(tribal.learn, writer, "The deploy API needs X-Batch.")
            until_waiting(2)
        assert demoted.exception(PATIENCE_S) is None
        error = taught.exception(PATIENCE_S)
    assert isinstance(error, TributaryError)
    assert error.code == "forbidden"
    assert tribal.status_counts() == {}


def parameters(tribal: Tribal, **more: object) -> dict[str, object]:
    return {"tribe_id": tribal.tribe_id, "actor_id": tribal.curator.agent_id, "audit_id": new_id(), "now": tribal.clock(), **more}


def test_of_two_tokens_that_are_asked_for_at_once_in_place_of_the_same_newest_one_is_made(tribal: Tribal) -> None:
    agents, worker = tribal.memory.agents, tribal.memory.agents.create(tribal.curator, "worker", Role.WRITER)
    with ThreadPoolExecutor(2) as pool, gate_held(tribal) as until_waiting:
        both = [
            pool.submit(agents.new_token, tribal.curator, worker.agent.agent_id, revoke_others=True, newest=worker.token_id)
            for _ in range(2)
        ]
        until_waiting(2)
    made = [one.result() for one in both if one.exception(PATIENCE_S) is None]
    refused = [one.exception() for one in both if one.exception(PATIENCE_S) is not None]
    assert tribal.memory.authenticate(made[0].secret).name == "worker"
    assert [type(one) for one in refused] == [WrongStanding]


def test_a_change_that_is_sent_again_is_made_and_audited_once(tribal: Tribal) -> None:
    """What `Database` does when the connection is lost before the reply: the very same statement, once more."""
    secret, database = new_token(), tribal.memory.database
    agent_id = new_id()
    made = {"token_id": new_id(), "token_hash": token_hash(secret), "expires_at": tribal.clock().replace(year=2100)}
    create = parameters(
        tribal, agent_id=agent_id, name="w", role="curator", most_agents=MOST_AGENTS, most_tokens=MOST_TOKENS, **made
    )
    again = parameters(
        tribal,
        agent_id=tribal.curator.agent_id,
        most_tokens=MOST_TOKENS,
        revoke_others=False,
        newest=None,
        **{**made, "token_id": new_id(), "token_hash": token_hash(new_token())},
    )
    for name, given in (
        (statement("access", "manage_create"), create),
        (statement("access", "manage_new_token"), again),
        (statement("access", "manage_revoke_token"), parameters(tribal, token_id=again["token_id"])),
        (statement("access", "manage_set_role"), parameters(tribal, agent_id=tribal.curator.agent_id, role="writer")),
    ):
        assert database.value(name, given) == database.value(name, given)
    entries = tribal.rows("SELECT action FROM tributary.audit ORDER BY at")
    assert [one["action"] for one in entries] == ["create_agent", "new_token", "revoke_token", "set_role"]
    assert tribal.memory.authenticate(secret).role is Role.CURATOR
