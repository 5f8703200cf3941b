"""Callers who send a byte now and then, nothing at all, or never take their reply: they keep nobody else from being served."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse

import httpx
import psutil
import pytest
import uvicorn

from tests.contract.samples import RECALL, bearer
from tests.contract.stand_in import StandIn
from tests.contract.test_gateway import WHOLE, Sent, code_of, converse
from tests.providers.server import wait_for
from tributary.contract.limits import BODY_BYTES
from tributary.edges.gateway import Gateway, Started, running
from tributary.edges.gateway.app import MOST_IN_FLIGHT, Send
from tributary.edges.gateway.patience import Patience, protocol_of

BODY = json.dumps(RECALL).encode()
HEAD = (
    b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer reader\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n" % len(BODY)
)
LONG_S = 600.0


@contextmanager
def connected(started: Started, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection((started.host, started.port), timeout=30) as caller:
        caller.sendall(sent)
        yield caller


def is_served(started: Started) -> bool:
    with httpx.Client(base_url=started.url, trust_env=False, timeout=20) as http:
        try:
            return http.post("/v1/recall", json=RECALL, headers=bearer("reader")).status_code == 200
        except httpx.TransportError:
            return False


def status_of_reply(caller: socket.socket) -> int:
    """Reads one whole reply and returns its status."""
    reply = HTTPResponse(caller)
    reply.begin()
    reply.read()
    return reply.status


def is_cut(caller: socket.socket) -> bool:
    """Tells whether the connection was ended by the other side, which had said nothing before."""
    try:
        return caller.recv(1) == b""
    except ConnectionError:
        return True


def test_more_callers_than_places_whose_bodies_do_not_come_keep_nobody_from_being_served() -> None:
    with running(StandIn()) as started, ExitStack() as callers:
        slow = [callers.enter_context(connected(started, HEAD + BODY[:5])) for _ in range(MOST_IN_FLIGHT + 12)]
        assert is_served(started)
        slow[-1].sendall(BODY[5:])
        assert status_of_reply(slow[-1]) == 200


@pytest.mark.parametrize("sent", [b"", b"POST /v1/rec", HEAD[:-2]], ids=["nothing", "half-a-line", "all-but-the-end"])
def test_who_does_not_come_to_the_end_of_the_head_is_cut(sent: bytes) -> None:
    with running(StandIn(), patience=Patience(head_s=0.2)) as started, connected(started, sent) as caller:
        assert is_cut(caller)
        assert is_served(started)


def test_a_byte_now_and_then_buys_no_time_for_the_head() -> None:
    drops = iter(HEAD[:-4] + b"\r\nX-More: " + b"x" * 2000)  # at this pace the longest allowed head would take minutes

    with running(StandIn(), patience=Patience(head_s=0.3)) as started, connected(started) as caller:
        caller.settimeout(0.02)
        for drop in drops:
            try:
                caller.sendall(bytes([drop]))
                if caller.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert next(drops, None) is not None


def test_a_further_request_on_a_connection_has_no_more_time_for_its_head() -> None:
    with running(StandIn(), patience=Patience(head_s=0.2)) as started, connected(started, HEAD + BODY) as caller:
        assert status_of_reply(caller) == 200
        caller.sendall(b"GET /hea")
        assert is_cut(caller)


def test_a_request_whose_body_does_not_come_is_cut() -> None:
    with running(StandIn(), patience=Patience(request_s=0.2)) as started, connected(started, HEAD + BODY[:5]) as caller:
        assert is_cut(caller)


def test_a_slow_request_within_its_time_is_served_and_so_is_the_next_on_its_connection() -> None:
    with running(StandIn(), patience=Patience(head_s=LONG_S, request_s=LONG_S)) as started, connected(started) as caller:
        for _ in range(2):
            for part in (HEAD[:9], HEAD[9:], BODY[:3], BODY[3:]):
                caller.sendall(part)
                time.sleep(0.02)
            assert status_of_reply(caller) == 200


def test_a_call_that_takes_longer_than_sending_may_is_not_cut() -> None:
    memory = StandIn(while_recalling=lambda: time.sleep(0.5))
    with running(memory, patience=Patience(head_s=0.1, request_s=0.1, reply_s=0.1)) as started:
        assert is_served(started)


def test_who_takes_nothing_of_his_reply_is_cut() -> None:
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200
    with running(StandIn(), patience=Patience(reply_s=0.2)) as started, socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.connect((started.host, started.port))
        caller.sendall(asked)
        mine = caller.getsockname()
        assert wait_for(lambda: mine in peers_of(started.port))
        assert wait_for(lambda: mine not in peers_of(started.port), within_s=60)
        assert is_served(started)


def peers_of(port: int) -> set[tuple[str, int]]:
    """Returns who is connected to a port of this process."""
    return {tuple(one.raddr) for one in psutil.Process().net_connections("tcp") if one.laddr.port == port and one.raddr}


def test_one_connection_too_many_cuts_the_one_that_was_waited_for_the_longest() -> None:
    patience = Patience(head_s=LONG_S, request_s=LONG_S, connections=4)
    with running(StandIn(), patience=patience) as started, ExitStack() as callers:
        slow = [callers.enter_context(connected(started, HEAD[: 10 * n] + (BODY[:2] if n > 9 else b""))) for n in range(4)]
        assert is_served(started)
        assert is_cut(slow[0])
        slow[3].sendall(HEAD[30:] + BODY)
        assert status_of_reply(slow[3]) == 200


def test_of_many_that_come_at_once_no_more_stay_than_may_be() -> None:
    came = threading.Event()

    class Busy(StandIn):
        def cell_for(self, token: str) -> str | None:
            came.wait(20)  # on the event loop's own thread, so that all who come meanwhile are let in at once
            return super().cell_for(token)

    with running(Busy(), patience=Patience(head_s=LONG_S, connections=4)) as started, ExitStack() as callers:
        callers.enter_context(connected(started, HEAD + BODY))
        many = [callers.enter_context(connected(started)) for _ in range(40)]
        came.set()
        assert wait_for(lambda: len(peers_of(started.port)) <= 4)
        assert is_cut(many[0])
        assert is_served(started)


def test_who_takes_nothing_of_his_reply_is_cut_for_one_too_many() -> None:
    patience = Patience(head_s=LONG_S, reply_s=LONG_S, connections=2)
    with running(StandIn(), patience=patience) as started, ExitStack() as callers:
        for _ in range(2):
            caller = callers.enter_context(socket.socket())
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.connect((started.host, started.port))
            caller.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        assert wait_for(lambda: is_served(started))


@pytest.mark.parametrize("last", [b"no HTTP at all\r\n\r\n", None], ids=["nonsense", "nothing-more"])
def test_who_leaves_a_reply_in_the_way_of_his_connections_end_is_cut(last: bytes | None) -> None:
    with serving_so_much(30_000, Patience(reply_s=0.2)) as port, socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.connect(("127.0.0.1", port))
        mine = caller.getsockname()
        caller.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wait_for(lambda: mine in peers_of(port))
        if last is None:
            caller.shutdown(socket.SHUT_WR)
        else:
            caller.sendall(last)
        assert wait_for(lambda: mine not in peers_of(port))


@contextmanager
def serving_so_much(size: int, patience: Patience) -> Iterator[int]:
    """Serves replies of that size from a socket that itself keeps next to nothing of them; gives the port."""

    async def app(_scope: object, _receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
        await send({"type": "http.response.body", "body": b"x" * size})

    config = uvicorn.Config(app, http=protocol_of(patience), lifespan="off", log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def test_who_is_being_served_is_never_the_one_that_is_cut() -> None:
    memory = StandIn()
    with running(memory, patience=Patience(head_s=LONG_S, connections=2)) as started, ExitStack() as callers:
        memory.while_recalling = lambda: wait_for(lambda: bool(memory.calls_of("health")))
        served = callers.enter_context(connected(started, HEAD + BODY))
        assert wait_for(lambda: bool(memory.calls_of("recall")))
        with connected(started) as silent:
            assert httpx.get(f"{started.url}/health", trust_env=False, timeout=20).status_code == 200
            assert is_cut(silent)
        assert status_of_reply(served) == 200


def test_large_bodies_that_wait_take_no_more_memory_than_they_may_and_nothing_from_the_others() -> None:
    gateway = Gateway(StandIn(), most_large_bytes=3 * BODY_BYTES)
    large = {"type": "http.request", "body": b" " * (2 * BODY_BYTES), "more_body": True}
    end = {"type": "http.request", "body": b"", "more_body": False}

    async def ask() -> tuple[Sent, Sent, Sent]:
        first = asyncio.create_task(converse(gateway, large))
        await asyncio.sleep(0.05)
        second, small = await converse(gateway, large, end), await converse(gateway, WHOLE)
        first.cancel()
        await asyncio.wait([first])
        return second, small, await converse(gateway, large, end)

    second, small, third = asyncio.run(ask())
    assert code_of(second) == (503, "overloaded")
    assert (b"connection", b"close") in second[0]["headers"]
    assert small[0]["status"] == 200
    assert code_of(third) == (413, "too_large")
    gateway.close()
