"""A local HTTP server that speaks for a provider of models, and misbehaves when it is told to.

The clients under test are the real ones: what they send is recorded as it came over the wire, and what is answered is read by
their own code.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it arrived; `match` holds the named groups of the route's pattern."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    match: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What to answer: a document or raw bytes, after `delay_s`, whole or one byte each `drip_s`; or a cut connection.

    With a `length` other than that of the content the connection ends before, or the client reads less than was meant.
    """

    status: int = 200
    document: object = None
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    cut: bool = False
    length: int | None = None

    @property
    def content(self) -> bytes:
        return self.raw if self.raw is not None else json.dumps(self.document).encode()


Route = Callable[[Asked], Reply]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that gave up waiting: that is what some are made to do."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ProviderServer:
    """Listens on loopback. `routes` are (method, pattern of the whole path, what answers); a scripted reply goes before them."""

    def __init__(self, routes: Sequence[tuple[str, str, Route]]) -> None:
        self.asked: list[Asked] = []
        self._routes = [(method, re.compile(pattern), route) for method, pattern, route in routes]
        self._scripted: deque[Reply] = deque()
        self._always: Reply | None = None
        self._stopped = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  (the base class's name)

            def do_GET(self) -> None:
                provider._answer(self)

            def do_POST(self) -> None:
                provider._answer(self)

            def do_HEAD(self) -> None:
                provider._answer(self)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *replies: Reply) -> None:
        """Answers the next requests so, in this order, whatever they ask."""
        self._scripted.extend(replies)

    def always(self, reply: Reply | None) -> None:
        """Answers every request so from now on; None ends it."""
        self._always = reply

    def forget(self) -> None:
        """Ends what was scripted and forgets what was asked."""
        self._scripted.clear()
        self._always = None
        self.asked.clear()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        path = handler.path.partition("?")[0]
        found = [(pattern.fullmatch(path), route) for method, pattern, route in self._routes if method == handler.command]
        match, route = next(((m, route) for m, route in found if m), (None, None))
        asked = Asked(
            method=handler.command,
            path=handler.path,
            headers={name.lower(): value for name, value in handler.headers.items()},
            body=_parsed(content),
            match=match.groupdict() if match else {},
        )
        self.asked.append(asked)
        if self._scripted:
            reply = self._scripted.popleft()
        elif self._always is not None:
            reply = self._always
        else:
            reply = route(asked) if route else Reply(status=404, document={"message": f"no route {handler.command} {path}"})
        with contextlib.suppress(OSError):
            self._send(handler, reply)

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.delay_s:
            self._stopped.wait(reply.delay_s)
        if reply.cut or self._stopped.is_set():
            handler.close_connection = True
            handler.connection.close()
            return
        content = reply.content
        handler.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(content) if reply.length is None else reply.length))
        handler.end_headers()
        if not reply.drip_s:
            handler.wfile.write(content)
            handler.close_connection = reply.length is not None
            return
        for byte in content:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if self._stopped.wait(reply.drip_s):
                handler.close_connection = True
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content


def unreachable() -> str:
    """Returns an address on loopback where nothing listens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return f"http://127.0.0.1:{server.server_address[1]}"


def wait_for(condition: Callable[[], bool], *, within_s: float = 10.0) -> bool:
    """Tells whether the condition came to hold."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
