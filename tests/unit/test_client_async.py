"""The asynchronous client does what the blocking one does: every method, over the same wire, whatever comes of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.client_fakes import TOKEN, URL, Hands, opened
from tests.unit.client_methods import ENDINGS, FACES, METHODS, Ending, Wire, sample
from tributary import client
from tributary.client import AsyncMemory, Hits, Memory, TributaryError, asynchronous

MOST = 4
"""Items that are taken from something that may go on for ever."""


@dataclass(frozen=True)
class Outcome:
    """What a call came to, and what it took."""

    result: object
    error: object
    sent: list[tuple[object, ...]]
    waits: list[float]


def blocking(face: str, method: str, arguments: dict[str, Any], script: list[Ending], way: str) -> Outcome:
    wire, hands = Wire(list(script)), Hands()
    result, error = None, None
    with opened(wire, hands) as memory:
        try:
            found = getattr(FACES[face](memory), method)(**arguments)
            if way == "pages" and hasattr(found, "pages"):
                found = found.pages()
            result = list(islice(found, MOST)) if isinstance(found, Iterator) else found
        except TributaryError as failure:
            error = told(failure)
    return Outcome(result=shown(result), error=error, sent=wire.sent(), waits=hands.waits)


async def awaited(face: str, method: str, arguments: dict[str, Any], script: list[Ending], way: str) -> Outcome:
    wire, hands = Wire(list(script)), Hands()
    transport = httpx.MockTransport(wire)

    async def sleep(seconds: float) -> None:
        hands.sleep(seconds)

    result, error = None, None
    async with AsyncMemory(
        URL, TOKEN, transport=transport, environment={}, clock=hands.clock, sleep=sleep, jitter=lambda: 1.0
    ) as memory:
        try:
            found = getattr(FACES[face](memory), method)(**arguments)
            if inspect.isawaitable(found):
                found = await found
            if way == "pages" and hasattr(found, "pages"):
                found = found.pages()
            result = [one async for one in first(found, MOST)] if isinstance(found, AsyncIterator) else found
        except TributaryError as failure:
            error = told(failure)
    return Outcome(result=shown(result), error=error, sent=wire.sent(), waits=hands.waits)


async def first(items: AsyncIterator[Any], most: int) -> AsyncIterator[Any]:
    for _ in range(most):
        try:
            yield await anext(items)
        except StopAsyncIteration:
            return


def told(error: TributaryError) -> object:
    return type(error), error.code, error.detail, error.status, error.errors, error.operation, error.retry_after


def shown(value: object) -> object:
    if isinstance(value, list):
        return [shown(one) for one in value]
    if isinstance(value, Hits):
        return list(value), value.receipt.document()
    if isinstance(value, client.Attempt):
        return value.result, value.error and told(value.error)
    return repr(value).replace("Async", "") if type(value).__module__.startswith("tributary.client") else value


@pytest.mark.parametrize(("face", "method"), METHODS, ids=str)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_call_sends_and_comes_to_the_same_with_and_without_waiting(face: str, method: str, data: st.DataObject) -> None:
    parameters = list(inspect.signature(getattr(getattr(client, face), method)).parameters.values())[1:]
    arguments = {
        one.name: sample(method, one.name)
        for one in parameters
        if one.default is inspect.Parameter.empty or data.draw(st.booleans(), label=one.name)
    }
    script = data.draw(st.lists(st.sampled_from(ENDINGS), max_size=6), label="script")
    way = data.draw(st.sampled_from(["items", "pages"]), label="way")
    one = blocking(face, method, arguments, script, way)
    other = asyncio.run(awaited(face, method, arguments, script, way))
    assert other == one


def test_every_class_with_an_asynchronous_twin_is_tried() -> None:
    twins = {name.removeprefix("Async") for name in asynchronous.__all__}
    assert twins == {*FACES, "Listing", "Diff"}
    assert set(asynchronous.__all__) <= set(client.__all__)
    with Memory(URL, TOKEN, environment={}) as memory:
        held = {type(one).__name__ for name, one in vars(memory).items() if not name.startswith("_")}
    assert held <= twins, "a face of Memory has no asynchronous twin, or is not tried"


@pytest.mark.parametrize(("face", "method"), METHODS, ids=str)
def test_an_asynchronous_method_takes_what_the_blocking_one_takes(face: str, method: str) -> None:
    one, other = (inspect.signature(getattr(getattr(client, name), method)) for name in (face, f"Async{face}"))
    assert str(other).replace("Async", "") == str(one)
    assert METHODS.count((face, method)) == 1


# what only asynchronous callers meet


class Hanging:
    """A server on loopback that leaves the first requests without an answer, and answers all others."""

    def __init__(self, hanging: int) -> None:
        self.hanging = hanging
        self.asked = asyncio.Event()
        self._connections: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self._connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (connection := asyncio.current_task()) is not None:
            self._connections.append(connection)
        body = b'{"status": "ok", "version": "0.1.0"}'
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nContent-Type: application/json\r\n\r\n".encode()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                self.hanging -= 1
                if self.hanging >= 0:
                    writer.write(head + body[:5])
                    await writer.drain()
                    self.asked.set()
                    await reader.read()  # until the client hangs up
                    break
                writer.write(head + body)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def test_cancelled_calls_leave_the_pool_of_connections_sound() -> None:
    calls = 120  # more than a pool holds

    async def scenario() -> tuple[int, str]:
        server = Hanging(calls)
        async with server as url, AsyncMemory(url, TOKEN, environment={}, timeout_s=3600) as memory:
            cancelled = 0
            for _ in range(calls):
                server.asked.clear()
                call = asyncio.create_task(memory.health())
                await server.asked.wait()
                call.cancel()
                try:
                    await call
                except asyncio.CancelledError:
                    cancelled += 1
            async with asyncio.timeout(10):  # where all connections are taken, none is free within the hour
                return cancelled, (await memory.health()).status

    assert asyncio.run(scenario()) == (calls, "ok")


def test_a_call_that_is_waiting_to_try_again_can_be_cancelled() -> None:
    async def scenario() -> int:
        waiting = asyncio.Event()

        async def sleep(seconds: float) -> None:
            waiting.set()
            await asyncio.sleep(3600)

        wire = Wire(["unavailable"])
        async with AsyncMemory(URL, TOKEN, transport=httpx.MockTransport(wire), environment={}, sleep=sleep) as memory:
            call = asyncio.create_task(memory.recall("q"))
            await waiting.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await memory.recall("q")
        return len(wire.tribe.requests)

    assert asyncio.run(scenario()) == 2


def test_tasks_share_a_memory() -> None:
    async def scenario() -> list[int]:
        wire = Wire(["unavailable"] * 3)

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(0)

        async with AsyncMemory(URL, TOKEN, transport=httpx.MockTransport(wire), environment={}, sleep=sleep) as memory:
            return [len(hits) for hits in await asyncio.gather(*(memory.recall("q") for _ in range(8)))]

    assert asyncio.run(scenario()) == [1] * 8


@pytest.mark.parametrize("way", ["coroutine", "thread"])
def test_once_takes_a_coroutine_function_or_another_and_renews_meanwhile(way: str) -> None:
    async def scenario() -> tuple[object, list[str]]:
        wire = Wire([])
        renewed = asyncio.Event()
        loop = asyncio.get_running_loop()

        def watched(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/renew"):
                loop.call_soon_threadsafe(renewed.set)
            return wire(request)

        async def effect() -> str:
            await renewed.wait()
            return "rebooted"

        def blocking_effect() -> str:
            return asyncio.run_coroutine_threadsafe(effect(), loop).result(30)

        async with AsyncMemory(URL, TOKEN, transport=httpx.MockTransport(watched), environment={}) as memory:
            result = await memory.once("reboot:db-7", effect if way == "coroutine" else blocking_effect, lease_s=1)
        return result, [request.url.path.rpartition("/")[2] for request in wire.tribe.requests]

    result, paths = asyncio.run(scenario())
    assert (result, paths[0], paths[-1], set(paths[1:-1])) == ("rebooted", "actions", "complete", {"renew"})


def test_what_is_cancelled_in_the_middle_of_it_is_in_doubt() -> None:
    async def scenario() -> list[str]:
        wire = Wire([])
        begun = asyncio.Event()

        async def effect() -> None:
            begun.set()
            await asyncio.sleep(3600)

        async with AsyncMemory(URL, TOKEN, transport=httpx.MockTransport(wire), environment={}) as memory:
            call = asyncio.create_task(memory.once("reboot:db-7", effect))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        return [f"{one.url.path.rpartition('/')[2]} {one.content.decode()}" for one in wire.tribe.requests]

    told = asyncio.run(scenario())
    assert len(told) == 2
    assert told[1].startswith("fail ")
    assert '"unsure": true' in told[1].replace('":true', '": true')


def test_what_is_listed_comes_as_needed_and_may_be_left_at_any_point() -> None:
    async def scenario() -> int:
        wire = Wire([])
        async with AsyncMemory(URL, TOKEN, transport=httpx.MockTransport(wire), environment={}) as memory:
            async for _ in memory.lessons(page_size=1):
                break
            async for _ in memory.curation.disputes():
                break
        return len(wire.tribe.requests)

    assert asyncio.run(scenario()) == 2
