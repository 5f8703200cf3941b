"""The local gateway as a server: API Gateway's limits, many callers at once, and a clean end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.samples import LEARN, RECALL, bearer, errors_of
from tests.contract.stand_in import READER, WRITER, StandIn
from tributary.contract.limits import EVENT_BYTES, REQUEST_BYTES
from tributary.core.errors import BadSetting
from tributary.edges.gateway import DEFAULT_PORT, Gateway, running
from tributary.edges.gateway.server import bind

JSON = {"Content-Type": "application/json"}
ROOT = Path(__file__).parents[2]


def test_request_of_more_than_10_mb_is_413_before_it_is_read_to_its_end(api: httpx.Client, memory: StandIn) -> None:
    response = api.post("/v1/lessons", content=b" " * (REQUEST_BYTES + 1), headers={**bearer("writer"), **JSON})
    assert response.status_code == 413
    assert errors_of(response) == {"body": "is 10000001 bytes; at most 10000000 are taken"}
    assert response.headers["connection"] == "close"
    assert memory.calls == []
    assert api.get("/health").status_code == 200


def test_endless_body_is_read_no_further_than_the_limit(api: httpx.Client, memory: StandIn) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while taken < 20 * REQUEST_BYTES:
            taken += 65536
            yield b" " * 65536

    response = api.post("/v1/lessons", content=endless(), headers={**bearer("writer"), **JSON})
    assert response.status_code == 413
    assert errors_of(response) == {"body": "is more than 10000000 bytes"}
    assert taken < 20 * REQUEST_BYTES
    assert memory.calls == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b" " * EVENT_BYTES, f"makes an event of more than {EVENT_BYTES} bytes"),
        (b"\x01" * (EVENT_BYTES // 6), f"makes an event of more than {EVENT_BYTES} bytes"),
        (b" " * (EVENT_BYTES - 10_000), "is 6281456 bytes; at most 65536 are read"),
    ],
    ids=["long", "long-when-escaped", "fits"],
)
def test_event_of_more_than_6_mb_is_413_and_reaches_no_function(
    api: httpx.Client, memory: StandIn, body: bytes, rule: str
) -> None:
    response = api.post("/v1/lessons", content=body, headers={**bearer("writer"), **JSON})
    assert response.status_code == 413
    assert errors_of(response) == {"body": rule}
    assert memory.asked() == []
    assert (memory.calls_of("authenticate") == []) is rule.startswith("makes an event")


Sent = list[MutableMapping[str, Any]]


async def converse(gateway: Gateway, *received: dict[str, Any], token: str = "reader", path: str = "/v1/recall") -> Sent:
    """Returns what `gateway` sends to a request of which it gets `received`, and after that nothing any more."""
    sent: Sent = []
    waiting = list(received)

    async def receive() -> MutableMapping[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")],
        "http_version": "1.1",
        "client": ("192.0.2.1", 1),
    }
    await gateway(scope, receive, send)
    return sent


def code_of(sent: Sent) -> tuple[int, str]:
    start, body = sent
    return start["status"], json.loads(body["body"])["code"]


WHOLE = {"type": "http.request", "body": json.dumps(RECALL).encode(), "more_body": False}
BEGUN = {"type": "http.request", "body": b"{", "more_body": True}
GONE = {"type": "http.disconnect"}


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Holds each recall until it is opened."""
    gate = Gate()
    yield gate
    gate.opened.set()


class Gate:
    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        self.opened.wait(30)


def test_body_that_never_ends_is_503_at_the_time_limit() -> None:
    gateway = Gateway(StandIn(), timeout_s=0.05)
    sent = asyncio.run(converse(gateway, BEGUN))
    assert code_of(sent) == (503, "timed_out")
    assert {(b"connection", b"close"), (b"retry-after", b"1")} <= set(sent[0]["headers"])
    gateway.close()


def test_slow_function_is_503_at_the_time_limit(gate: Gate) -> None:
    gateway = Gateway(StandIn(while_recalling=gate), timeout_s=0.2)
    assert code_of(asyncio.run(converse(gateway, WHOLE))) == (503, "timed_out")
    gate.opened.set()
    gateway.close()


def test_request_that_waited_too_long_for_a_thread_is_never_begun(gate: Gate) -> None:
    memory = StandIn(while_recalling=gate)
    gateway = Gateway(memory, timeout_s=0.2, workers=1)

    async def two() -> tuple[Sent, Sent]:
        return await asyncio.gather(converse(gateway, WHOLE), converse(gateway, WHOLE))

    first, second = asyncio.run(two())
    assert code_of(first) == code_of(second) == (503, "timed_out")
    gate.opened.set()
    gateway.close()
    assert len(memory.calls_of("recall")) == 1


def test_caller_who_goes_away_while_sending_gets_nothing_and_reaches_nothing() -> None:
    memory = StandIn()
    gateway = Gateway(memory)
    assert asyncio.run(converse(gateway, BEGUN, GONE)) == []
    assert memory.calls == []
    gateway.close()


def test_learns_that_wait_for_a_model_keep_no_recall_waiting(gate: Gate) -> None:
    gateway = Gateway(StandIn(while_learning=gate), workers=1, most_in_flight=2)
    learn = {**WHOLE, "body": json.dumps(LEARN).encode()}

    async def ask() -> tuple[list[Sent], Sent, Sent]:
        begun = [asyncio.create_task(converse(gateway, learn, token="writer", path="/v1/lessons")) for _ in range(2)]
        await asyncio.to_thread(gate.reached.wait, 30)
        further = await converse(gateway, learn, token="writer", path="/v1/lessons")
        recalled = await converse(gateway, WHOLE)
        gate.opened.set()
        return [await one for one in begun], further, recalled

    learned, further, recalled = asyncio.run(ask())
    assert code_of(further) == (503, "overloaded")
    assert [sent[0]["status"] for sent in (*learned, recalled)] == [200, 200, 200]
    gateway.close()


class ByToken(StandIn):
    """Stands in for several cells: each token names one of its own."""

    def cell_for(self, token: str, /) -> str | None:
        return token


def holding_the_reader(gate: Gate) -> StandIn:
    """Returns cells of which one, the reader's, does not answer until the gate is opened."""
    memory = ByToken()
    memory.while_recalling = lambda: gate() if memory.calls_of("recall")[-1]["principal"] == READER else None
    return memory


def test_a_cell_that_hangs_leaves_the_others_half_of_the_threads(gate: Gate) -> None:
    gateway = Gateway(holding_the_reader(gate), workers=2, timeout_s=20)

    async def ask() -> tuple[Sent, Sent, Sent]:
        first = asyncio.create_task(converse(gateway, WHOLE))
        await asyncio.to_thread(gate.reached.wait, 30)
        second = asyncio.create_task(converse(gateway, WHOLE))
        await asyncio.sleep(0)
        third = await converse(gateway, WHOLE, token="writer")
        gate.opened.set()
        return await first, await second, third

    assert [sent[0]["status"] for sent in asyncio.run(ask())] == [200, 200, 200]
    gateway.close()


def test_a_cell_keeps_its_threads_until_they_have_ended_whoever_waits_for_them(gate: Gate) -> None:
    memory = holding_the_reader(gate)
    gateway = Gateway(memory, workers=2, timeout_s=0.2)

    async def ask() -> list[tuple[int, str]]:
        return [code_of(await converse(gateway, WHOLE)) for _ in range(2)]

    assert asyncio.run(ask()) == [(503, "timed_out")] * 2
    assert len(memory.calls_of("recall")) == 1
    gate.opened.set()
    gateway.close()


def test_requests_of_a_cell_beyond_its_half_are_503_and_those_of_others_are_served(gate: Gate) -> None:
    gateway = Gateway(holding_the_reader(gate), most_in_flight=2)

    async def ask() -> tuple[Sent, Sent, Sent]:
        first = asyncio.create_task(converse(gateway, WHOLE))
        await asyncio.to_thread(gate.reached.wait, 30)
        second, third = await converse(gateway, WHOLE), await converse(gateway, WHOLE, token="writer")
        gate.opened.set()
        return await first, second, third

    first, second, third = asyncio.run(ask())
    assert code_of(second) == (503, "overloaded")
    assert (first[0]["status"], third[0]["status"]) == (200, 200)
    gateway.close()


def test_requests_beyond_the_bound_are_503_with_retry_after(gate: Gate) -> None:
    gateway = Gateway(StandIn(while_recalling=gate), most_in_flight=1)

    async def one_too_many() -> tuple[Sent, Sent]:
        first = asyncio.create_task(converse(gateway, WHOLE))
        await asyncio.to_thread(gate.reached.wait, 30)
        second = await converse(gateway, WHOLE)
        gate.opened.set()
        return await first, second

    served, refused = asyncio.run(one_too_many())
    assert served[0]["status"] == 200
    assert code_of(refused) == (503, "overloaded")
    assert (b"retry-after", b"1") in refused[0]["headers"]
    gateway.close()


def test_each_of_many_callers_at_once_gets_the_answer_to_his_own_request(api: httpx.Client, memory: StandIn) -> None:
    together = threading.Barrier(2)
    memory.while_recalling = lambda: together.wait(30)

    def recall(token: str, number: int) -> tuple[int, str]:
        query = {"query": f"{token}-{number}", "limit": number % 100 + 1, "tags": {"mine": str(number)}}
        response = api.post("/v1/recall", json=query, headers=bearer(token))
        return response.status_code, response.json()["receipt"]["filters"]["tags"]["mine"]

    tokens = {"reader": READER, "writer": WRITER}
    asked = [(list(tokens)[number % 2], number) for number in range(60)]
    with ThreadPoolExecutor(max_workers=10) as callers:
        answers = list(callers.map(lambda one: recall(*one), asked))
    assert answers == [(200, str(number)) for _, number in asked]
    for call in memory.calls_of("recall"):
        question: Any = call["question"]
        token, _, number = question.query.partition("-")
        assert call["principal"] == tokens[token]
        assert question.tags == {"mine": number}


def test_port_that_is_taken_is_told_as_a_setting() -> None:
    taken = "on 127.0.0.1 is taken by another program"
    with running(StandIn()) as started, pytest.raises(BadSetting, match=f"port {started.port} {taken}"):
        bind("127.0.0.1", started.port)


@pytest.mark.parametrize(("host", "port"), [("no such host", 0), ("127.0.0.1", 70_000), ("192.0.2.1", 0), ("127.0.0.1", -1)])
def test_address_that_cannot_be_bound_is_told_as_a_setting(host: str, port: int) -> None:
    with pytest.raises(BadSetting, match=host):
        bind(host, port)


def test_port_is_free_again_when_the_block_ends() -> None:
    before = threading.active_count()
    with running(StandIn()) as started:
        assert httpx.get(f"{started.url}/health", trust_env=False).status_code == 200
    bind("127.0.0.1", started.port).close()
    assert threading.active_count() == before


def test_client_and_gateway_agree_on_the_port() -> None:
    from tributary.client import DEFAULT_PORT as CLIENTS_PORT

    assert DEFAULT_PORT == CLIENTS_PORT


SERVING = """
import threading
from tests.contract.stand_in import StandIn
from tributary.edges.gateway import serve

memory = StandIn()
inside = threading.Event()
memory.while_recalling = lambda: (print("inside", flush=True), inside.wait(1))
serve(memory, port=0, started=lambda started: print(started.url, started.cors_origins, flush=True))
print("closed", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_signal_ends_serving_after_the_request_that_runs(number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])}
    with (
        subprocess.Popen([sys.executable, "-c", SERVING], stdout=subprocess.PIPE, text=True, env=environment) as process,
        ThreadPoolExecutor() as callers,
    ):
        assert process.stdout is not None
        url, origins = process.stdout.readline().split()
        assert origins == "()"
        running_request = callers.submit(
            httpx.post, f"{url}/v1/recall", json=RECALL, headers=bearer("reader"), trust_env=False, timeout=30
        )
        assert process.stdout.readline() == "inside\n"
        process.send_signal(number)
        assert running_request.result().status_code == 200
        assert process.stdout.read() == "closed\n"
        assert process.wait(30) == 0


def test_only_this_computer_can_reach_it_unless_told_otherwise() -> None:
    with running(StandIn()) as started:
        assert started.url == f"http://127.0.0.1:{started.port}"
    with bind("::1", 0) if socket.has_ipv6 else bind("127.0.0.1", 0) as listener:
        assert listener.getsockname()[0] in {"::1", "127.0.0.1"}


def test_learn_is_accepted_but_not_settled_when_pending(api: httpx.Client, memory: StandIn) -> None:
    memory.pending = True
    response = api.post("/v1/lessons", json=LEARN, headers=bearer("writer"))
    assert response.status_code == 202
    assert response.json()["outcome"] == "pending"


@pytest.mark.parametrize(("wanted", "at_most"), [(None, 29.0), (5, 5.0), (30, 29.0)])
def test_deadline_of_a_learn_is_bounded_by_the_time_that_is_left(
    api: httpx.Client, memory: StandIn, wanted: float | None, at_most: float
) -> None:
    api.post("/v1/lessons", json={**LEARN, "deadline_s": wanted}, headers=bearer("writer"))
    deadline_s: Any = memory.calls_of("learn")[0]["deadline_s"]
    assert 0 < deadline_s <= at_most
