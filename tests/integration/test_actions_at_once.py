"""Requests about actions at the same instant, held up until each of them has come to where it waits for the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.core.action import Begun
from tributary.core.agent import Principal
from tributary.core.errors import TributaryError

PATIENCE_S = 30
ROWS = "SELECT FROM tributary.action FOR UPDATE"
REPLIES = "LOCK TABLE tributary.idempotency IN SHARE MODE"
"""Lets nobody keep a reply, but look for one."""


@pytest.fixture
def writer(tribal: Tribal) -> Principal:
    return tribal.agent("writer")


def begin(tribal: Tribal, agent: Principal, key: str, *, under: str | None = None) -> Begun:
    return tribal.memory.actions.begin(agent, key, "reboot db-7", idempotency_key=under)


def at_once(tribal: Tribal, held: str, calls: list[Callable[[], Any]]) -> list[Any]:
    """Runs the calls while something that all of them need is held, then lets them through; returns what came of each."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except TributaryError as error:
            return error.code

    with ThreadPoolExecutor(len(calls)) as pool:
        with psycopg.connect(tribal.url) as holder:
            holder.execute(held.encode())
            running = [pool.submit(outcome, call) for call in calls]
            until_waiting(tribal, len(calls))
            holder.rollback()
        return [one.result(PATIENCE_S) for one in running]


def until_waiting(tribal: Tribal, wanted: int) -> None:
    until = time.monotonic() + PATIENCE_S
    waiting = """SELECT 1 FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()"""
    while len(tribal.rows(waiting)) != wanted:
        assert time.monotonic() < until, "they never came to wait"
        time.sleep(0.02)


def test_of_two_that_begin_a_failed_action_anew_one_is_granted(tribal: Tribal, writer: Principal) -> None:
    first = begin(tribal, writer, "k")
    assert first.lease is not None
    tribal.memory.actions.fail(writer, first.action.action_id, first.lease, "refused")
    other = tribal.agent("other")
    found = at_once(tribal, ROWS, [lambda: begin(tribal, writer, "k"), lambda: begin(tribal, other, "k")])
    assert sorted((one.outcome, one.action.attempt) for one in found) == [("busy", 2), ("granted", 2)]


def test_equal_requests_to_end_an_action_both_get_the_one_reply(tribal: Tribal, writer: Principal) -> None:
    begun = begin(tribal, writer, "k")

    def complete() -> object:
        assert begun.lease is not None
        return tribal.memory.actions.complete(writer, begun.action.action_id, begun.lease, 1, idempotency_key="same")

    first, second = at_once(tribal, ROWS, [complete, complete])
    assert first == second
    assert first.action.result == 1


def test_one_idempotency_key_begins_one_of_two_actions_and_nothing_is_left_of_the_other(
    tribal: Tribal, writer: Principal
) -> None:
    calls = [lambda: begin(tribal, writer, "one", under="same"), lambda: begin(tribal, writer, "two", under="same")]
    found = at_once(tribal, REPLIES, calls)
    assert found.count("idempotency_conflict") == 1
    (granted,) = (one for one in found if isinstance(one, Begun))
    assert [one.key for one in tribal.memory.actions.actions(writer).items] == [granted.action.key]
