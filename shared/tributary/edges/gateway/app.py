"""The local gateway as an ASGI app: what API Gateway does on AWS, in front of the code that Lambda runs there.

    read (10 MB) -> preflight -> event (6 MB) -> authorizer -> function -> reply, all within 30 s

The functions are synchronous. Each has a bounded pool of threads of its own, as each has its own concurrency on AWS: however
many learns wait for a slow model, no recall waits behind them. Those who wait for something to happen have a further one. A
thread, and a place before it, is taken when the whole request is here, so that who sends his slowly holds neither. Nothing is
cached: a revoked token stops at once.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from tributary.contract.limits import BODY_BYTES, EVENT_BYTES, REQUEST_BYTES, TIMEOUT_S
from tributary.contract.models import FieldProblem
from tributary.contract.routes import ROUTES
from tributary.core.clock import utc_now
from tributary.core.ids import new_id
from tributary.edges.dashboard.port import Asgi
from tributary.edges.gateway.cors import Cors
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.authorizer import authorize
from tributary.edges.lambda_http.http_event import HttpRequest, to_authorizer_event, to_event
from tributary.edges.lambda_http.operations.ask import Operation
from tributary.edges.lambda_http.port import Door, Event
from tributary.edges.lambda_http.principal import bearer_token
from tributary.edges.lambda_http.problems import Refused, problem_reply
from tributary.edges.lambda_http.reply import headers_of
from tributary.edges.lambda_http.routing import Match, find
from tributary.edges.mcp.http import MCP
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import log

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

WORKERS = 16
"""Threads of one function; they are made when they are needed."""
MOST_IN_FLIGHT = 128
"""Requests of one function beyond so many are refused at once, as Lambda refuses beyond its concurrency."""
MOST_LARGE_BYTES = 256 * 1024 * 1024
"""Of bodies larger than most operations take, so many bytes may be in memory at once. The others are bounded by their number."""
MOST_WAITING = 64
"""So many callers may wait for something to happen at once. Each has a thread, and a connection only while it looks."""
_OPERATIONS: Mapping[str, Mapping[str, Operation]] = {"mcp": MCP}
"""Of the functions that serve something else than the API's own operations."""
_MCP_PATH = "/mcp"
DASHBOARD_PATH = "/dashboard"
"""Where the pages for people are; whoever asks for the server itself is sent there."""
DEFAULT_FUNCTION = "recall"
"""Serves API Gateway's `$default` route, so that 404 and 405 are ours too."""


@dataclass(frozen=True, kw_only=True)
class _Context:
    """Stands in for Lambda's context: knows when the caller will be cut off."""

    ends_at: float

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at - time.monotonic()) * 1000))


class _Lane:
    """Threads, and how many requests may be at them or before them. For the event loop's thread alone.

    Where there are several cells, none has more than half of either: one whose database hangs takes nobody else's thread.
    """

    def __init__(self, name: str, *, workers: int, most: int) -> None:
        self.pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix=name)
        self._most = most
        self._most_of_cell = max(1, most // 2)
        self._in_flight: Counter[str | None] = Counter()
        self._threads: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(max(1, workers // 2)))

    @contextlib.contextmanager
    def place(self, cell: str | None) -> Iterator[None]:
        """Holds a place for one request; raises Refused when there is none."""
        if self._in_flight.total() >= self._most:
            raise Refused("overloaded", f"{self._most} requests are being served already")
        if cell is not None and self._in_flight[cell] >= self._most_of_cell:
            raise Refused("overloaded", f"{self._most_of_cell} requests are being served for the cell '{cell}' already")
        self._in_flight[cell] += 1
        try:
            yield
        finally:
            self._in_flight[cell] -= 1

    async def run(self, cell: str | None, work: Callable[[], Event]) -> Event:
        """Does the work in a thread of those that the cell may have, when one is free."""
        loop = asyncio.get_running_loop()
        if cell is None:
            return await loop.run_in_executor(self.pool, work)
        threads = self._threads[cell]
        await threads.acquire()

        def free(_: Future[Event]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(threads.release)

        # Freed by the thread: a caller who is gone, or had his time, leaves it at its work.
        future = self.pool.submit(work)
        future.add_done_callback(free)
        return await asyncio.wrap_future(future)


class _LargeBodies:
    """Bounds what large bodies take of the memory, from their first byte until they are answered. For the event loop's thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextlib.contextmanager
    def counting(self) -> Iterator[Callable[[int], None]]:
        """Gives what is to be told the size of a body as it grows; that raises Refused when there is no room for more."""
        mine = 0

        def grown(size: int) -> None:
            nonlocal mine
            more = (size if size > BODY_BYTES else 0) - mine
            if self._held + more > self._most:
                # What is left of the body stays unread, so the connection can serve no other request.
                raise Refused("overloaded", "too many large requests are being read already", headers={"Connection": "close"})
            mine += more
            self._held += more

        try:
            yield grown
        finally:
            self._held -= mine


class Gateway:
    """An ASGI app over one open memory, which stays its caller's to close."""

    def __init__(
        self,
        memory: Door,
        *,
        cors_origins: Sequence[str] = (),
        timeout_s: float = TIMEOUT_S,
        workers: int = WORKERS,
        most_in_flight: int = MOST_IN_FLIGHT,
        most_waiting: int = MOST_WAITING,
        most_large_bytes: int = MOST_LARGE_BYTES,
        dashboard: Callable[[threading.Event], Asgi] | None = None,
    ) -> None:
        """`dashboard` makes the app of the pages under `/dashboard`, of an event that is set when nobody is to wait any more."""
        self._memory = memory
        self._cors = Cors(cors_origins)
        self._timeout_s = timeout_s
        names = {route.function for route in ROUTES}
        self._lanes = {name: _Lane(f"tributary-{name}", workers=workers, most=most_in_flight) for name in names}
        self._waiting = _Lane("tributary-waiting", workers=most_waiting, most=most_waiting)
        self._stopping = threading.Event()
        self._large = _LargeBodies(most_large_bytes)
        self._apps = {
            name: App(name, lambda: memory, stopping=self._stopping, operations=_OPERATIONS.get(name)) for name in names
        }
        self._dashboard = None if dashboard is None else dashboard(self._stopping)

    def end_waits(self) -> None:
        """Has those who wait for something to happen answered now, and whoever comes later at once."""
        self._stopping.set()

    def close(self) -> None:
        """Waits for the requests that run; those that still wait for a thread are dropped."""
        self.end_waits()
        for lane in (*self._lanes.values(), self._waiting):
            lane.pool.shutdown(wait=True, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http" and self._dashboard is not None and _is_for_people(scope["path"]):
            if scope["path"].startswith(DASHBOARD_PATH + "/"):
                await self._dashboard({**scope, "path": scope["path"].removeprefix(DASHBOARD_PATH)}, receive, send)
            else:
                await _send({"statusCode": 307, "headers": {"location": DASHBOARD_PATH + "/"}}, send)
        elif scope["type"] == "http":
            response = await self._serve(_head(scope), receive)
            if response is not None:
                await _send(response, send)

    async def _serve(self, head: HttpRequest, receive: Receive) -> Event | None:
        """Returns the response in Lambda's shape, None when the caller has gone."""
        origin = head.header("origin")
        if self._cors.is_preflight(head.method, origin, head.header("access-control-request-method")):
            return {"statusCode": 204, "headers": self._cors.preflight_headers(origin)}
        try:
            self._check_origin(head)
            response = await self._answer(head, receive, self._lane_for(head), self._cell(head))
        except _Gone:
            return None
        except Exception as error:
            response = _refusal(error, head)
        response["headers"].update(self._cors.headers(origin))
        return response

    def _check_origin(self, head: HttpRequest) -> None:
        if head.path == _MCP_PATH and not self._cors.may_speak(head.header("origin")):
            raise Refused("forbidden", "pages of other origins may not speak here; TRIBUTARY_CORS_ORIGINS lists those that may")

    def _lane_for(self, head: HttpRequest) -> _Lane:
        match = find(head.method, head.path)
        return self._waiting if match and _asks_to_wait(head, match) else self._lanes[_function(match)]

    def _cell(self, head: HttpRequest) -> str | None:
        token = bearer_token({"headers": dict(head.headers)})
        return None if token is None else self._memory.cell_for(token)

    async def _answer(self, head: HttpRequest, receive: Receive, lane: _Lane, cell: str | None) -> Event:
        context = _Context(ends_at=time.monotonic() + self._timeout_s)
        try:
            async with asyncio.timeout(self._timeout_s):
                with self._large.counting() as grown:
                    request = await _with_body(head, receive, grown)
                    with lane.place(cell):
                        return await lane.run(cell, partial(self._invoke, request, context))
        except TimeoutError as error:
            # A thread that is at it goes on; the idempotency key tells the retry what came of it.
            rule = f"there was no answer within {self._timeout_s:g} seconds"
            raise Refused("timed_out", rule, headers={"Connection": "close"}) from error

    def _invoke(self, request: HttpRequest, context: _Context) -> Event:
        match = find(request.method, request.path)
        event = to_event(request, match, request_id=new_id().hex, at=utc_now())
        if not (match and match.route.takes_bytes):  # whose bytes go through no function on AWS
            _check_size(event, len(request.body))
        if match and match.route.role:
            answer = authorize(to_authorizer_event(event), lambda: self._memory)
            event["requestContext"]["authorizer"] = {"lambda": answer["context"]}
        return self._apps[_function(match)](event, context)


class _Gone(Exception):
    """The caller closed the connection before it had sent its request."""


def _is_for_people(path: str) -> bool:
    return path in ("/", DASHBOARD_PATH) or path.startswith(DASHBOARD_PATH + "/")


def _asks_to_wait(head: HttpRequest, match: Match) -> bool:
    parameter = match.route.waits
    return parameter is not None and any(name == parameter and value != "0" for name, value in parse_qsl(head.query_string))


def _function(match: Match | None) -> str:
    return match.route.function if match else DEFAULT_FUNCTION


def _head(scope: Scope) -> HttpRequest:
    client = scope.get("client")
    return HttpRequest(
        method=scope["method"].upper(),
        path=scope["path"],
        query_string=scope["query_string"].decode("latin-1"),
        headers=tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]),
        protocol=f"HTTP/{scope['http_version']}",
        source_ip=client[0] if client else "",
        body=b"",
    )


async def _with_body(head: HttpRequest, receive: Receive, grown: Callable[[int], None]) -> HttpRequest:
    """Returns the request with its body; reads no further than the limit, and tells `grown` how much it has."""
    announced = head.header("content-length")
    if announced.isdecimal() and int(announced) > REQUEST_BYTES:
        raise _too_large(f"is {announced} bytes; at most {REQUEST_BYTES} are taken")
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        body += message.get("body", b"")
        if len(body) > REQUEST_BYTES:
            raise _too_large(f"is more than {REQUEST_BYTES} bytes")
        grown(len(body))
        if not message.get("more_body"):
            break
    return replace(head, body=bytes(body))


def _check_size(event: Event, body_bytes: int) -> None:
    # JSON writes one byte as six at worst, and all but the body is small.
    if body_bytes > EVENT_BYTES // 8 and len(json.dumps(event, ensure_ascii=False).encode()) > EVENT_BYTES:
        raise _too_large(f"makes an event of more than {EVENT_BYTES} bytes")


def _too_large(rule: str) -> Refused:
    # What is left of the body stays unread, so the connection can serve no other request.
    return Refused("too_large", f"body {rule}", errors=[FieldProblem(field="body", rule=rule)], headers={"Connection": "close"})


def _refusal(error: Exception, head: HttpRequest) -> Event:
    """Returns the problem for a request that reached no function."""
    with log.operation() as operation_id:
        reply = problem_reply(error, operation=operation_id)
        unforeseen = not isinstance(error, Refused)
        log.event(
            LogEvent.REQUEST_FAILED if unforeseen else LogEvent.REQUEST_REFUSED,
            level=logging.ERROR if unforeseen else logging.INFO,
            error=error if unforeseen else None,
            route="gateway",
            status=reply.status,
        )
    headers = headers_of(reply, operation_id=operation_id, path=head.path)
    return {"statusCode": reply.status, "headers": headers, "body": str(reply.body)}


async def _send(response: Event, send: Send) -> None:
    body = response.get("body") or ""
    content = base64.b64decode(body) if response.get("isBase64Encoded") else body.encode("utf-8")
    headers = [(name.lower().encode("latin-1"), str(value).encode("latin-1")) for name, value in response["headers"].items()]
    headers += [(b"set-cookie", cookie.encode("latin-1")) for cookie in response.get("cookies", ())]
    if response["statusCode"] != 204:
        headers.append((b"content-length", str(len(content)).encode("ascii")))
    await send({"type": "http.response.start", "status": response["statusCode"], "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
