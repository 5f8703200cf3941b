"""The HTTP API without HTTP: the SDK's requests, handed to the functions' own code in this process.

So each rule of the API holds for a tool and for a page: limits, roles, audit, pace, idempotency, the words of every refusal.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import unquote

import httpx

from tributary.contract.limits import TIMEOUT_S
from tributary.contract.routes import ROUTES
from tributary.core.clock import utc_now
from tributary.core.ids import new_id
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.http_event import HttpRequest, to_authorizer_event, to_event
from tributary.edges.lambda_http.port import Event, OpenMemory
from tributary.edges.lambda_http.routing import find

URL = "http://in-process.tributary.invalid"
"""Where requests seem to go; they never leave the process."""
DEFAULT_FUNCTION = "recall"

Identify = Callable[[Event], Mapping[str, str]]
"""Returns the authorizer's context for a request, made of the event that an authorizer is asked with."""


class Functions:
    """The functions that serve the API, over one memory that stays its opener's to close. Thread-safe."""

    def __init__(self, memory: OpenMemory, *, stopping: threading.Event | None = None) -> None:
        """`stopping` is set when the process is to end, and ends what callers wait for."""
        names = {route.function for route in ROUTES if route.path.startswith("/v1/")} | {DEFAULT_FUNCTION}
        self._apps = {name: App(name, memory, stopping=stopping) for name in names}

    def app(self, function: str) -> App:
        """Returns a function's app; that of API Gateway's `$default` route for one that is none of these."""
        return self._apps.get(function, self._apps[DEFAULT_FUNCTION])


class InProcess(httpx.BaseTransport):
    """A transport to the functions. Thread-safe."""

    def __init__(self, functions: Functions, identify: Identify, *, most_s: float = TIMEOUT_S) -> None:
        """No request may take longer than `most_s`, the limit of the API unless the caller has less time himself."""
        self._functions = functions
        self._identify = identify
        self._most_s = most_s

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the reply of the function that serves the request."""
        path = unquote(request.url.path)
        match = find(request.method, path)
        asked = HttpRequest(
            method=request.method,
            path=path,
            query_string=request.url.query.decode("ascii"),
            headers=tuple((name.lower(), value) for name, value in request.headers.items()),
            protocol="HTTP/1.1",
            source_ip="127.0.0.1",
            body=request.read(),
        )
        event = to_event(asked, match, request_id=new_id().hex, at=utc_now())
        if match and match.route.role:
            event["requestContext"]["authorizer"] = {"lambda": dict(self._identify(to_authorizer_event(event)))}
        function = match.route.function if match else DEFAULT_FUNCTION
        reply = self._functions.app(function)(event, _Until(time.monotonic() + self._seconds(request)))
        return httpx.Response(reply["statusCode"], headers=reply["headers"], content=(reply.get("body") or "").encode())

    def _seconds(self, request: httpx.Request) -> float:
        given = (request.extensions.get("timeout") or {}).get("read")
        return self._most_s if given is None else min(float(given), self._most_s)


class _Until:
    """Stands in for Lambda's context."""

    def __init__(self, ends_at: float) -> None:
        self._ends_at = ends_at

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - time.monotonic()) * 1000))
