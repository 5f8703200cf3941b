"""A call that is sent again does not act again, and one that is meant does."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, MCPError

from tests.unit.client_fakes import TOKEN, URL, lesson
from tributary.client import Memory
from tributary.edges.mcp.retries import WINDOW_S, Seen, Windowed, fingerprint
from tributary.edges.mcp.server import make_server
from tributary.edges.mcp.session import Opened, Session

LEARN = {"text": "it is 80", "situation": "operating", "how": "observed"}
LEARNED: dict[str, Any] = {
    "outcome": "learned",
    "lesson": lesson(),
    "replaced": [],
    "dispute": None,
    "challenges": [],
    "reason": "nothing like it is known",
    "decision": "dec_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f",
    "tick": 1,
    "replayed": False,
}


class Slow(httpx.BaseTransport):
    """A server that answers when it is let, and knows the keys that came."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.let = threading.Event()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers["idempotency-key"])
        self.let.wait(10)
        return httpx.Response(200, json=LEARNED)


def session_at(transport: httpx.BaseTransport) -> Session:
    memory = Memory(URL, TOKEN, transport=transport, environment={})
    opened = Opened(memory=memory, agent="agt_1", role="writer")
    return Session(lambda _: opened, retries=Seen())


def test_a_client_that_gave_up_and_calls_again_is_given_the_same_key_and_a_later_call_another() -> None:
    server = Slow()

    async def call() -> None:
        async with Client(make_server(session_at(server)), mode="legacy") as client:
            with pytest.raises(MCPError):
                await client.call_tool("tribal_learn", LEARN, read_timeout_seconds=0.2)
            await anyio.wait_all_tasks_blocked()  # the server has heard that the client gave up
            server.let.set()
            assert not (await client.call_tool("tribal_learn", LEARN)).is_error
            await client.call_tool("tribal_learn", LEARN)
            await client.call_tool("tribal_learn", {**LEARN, "text": "it is 81"})

    anyio.run(call)
    first, again, meant, other = server.keys
    assert first == again
    assert len({again, meant, other}) == 3


def test_a_call_that_failed_is_answered_by_its_retry() -> None:
    replies = [httpx.Response(409, json={"code": "wrong_standing"}), httpx.Response(200, json=LEARNED)]
    keys: list[str] = []

    def reply(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        return replies.pop(0)

    async def call() -> list[bool]:
        async with Client(make_server(session_at(httpx.MockTransport(reply)))) as client:
            return [(await client.call_tool("tribal_learn", LEARN)).is_error for _ in range(2)]

    assert anyio.run(call) == [True, False]
    assert len(set(keys)) == 1


def test_calls_are_equal_by_agent_tool_and_arguments_whatever_their_order() -> None:
    given: Mapping[str, object] = {"a": 1, "b": {"c": "ü", "d": 2}}
    assert fingerprint("x", "t", given) == fingerprint("x", "t", {"b": {"d": 2, "c": "ü"}, "a": 1})
    others = [("y", "t", given), ("x", "u", given), ("x", "t", {"a": 1})]
    assert len({fingerprint("x", "t", given), *(fingerprint(*one) for one in others)}) == 4


def test_without_a_session_equal_calls_share_a_key_for_two_minutes() -> None:
    began = 10.0 * WINDOW_S
    assert Windowed(began).key("call") == Windowed(began + WINDOW_S - 1).key("call")
    assert Windowed(began).key("call") != Windowed(began + WINDOW_S).key("call")
    assert Windowed(began).key("call") != Windowed(began).key("other")


def test_a_call_that_is_meant_each_time_shares_its_key_with_no_other_where_nothing_is_seen() -> None:
    assert Windowed(0).key("call", meant=True) != Windowed(0).key("call", meant=True)
    seen = Seen()
    assert seen.key("call", meant=True) == seen.key("call", meant=True)


def test_what_was_forgotten_is_given_a_new_key() -> None:
    seen = Seen()
    first = seen.key("call")
    for number in range(5000):
        seen.key(f"other {number}")
    assert seen.key("call") != first
