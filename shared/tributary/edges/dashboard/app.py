"""The dashboard as an ASGI app: FastAPI's routes around the reception and one watch, the same however it is served."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tributary.core.clock import Now, utc_now
from tributary.edges.dashboard.headers import Secured
from tributary.edges.dashboard.page import Page
from tributary.edges.dashboard.port import Asgi, OpenDoor, OpenProber, Setup
from tributary.edges.dashboard.problems import FAILED, NOT_HERE, TOO_LARGE, TOO_LONG, Problem
from tributary.edges.dashboard.reception import Asked, Reception, Replied
from tributary.edges.dashboard.rendering import WORDS, media_type
from tributary.edges.dashboard.sign_in import SIGN_IN
from tributary.edges.dashboard.table import PAGES
from tributary.edges.dashboard.watch import Watch
from tributary.telemetry import Event, log

FORM_BYTES = 262_144
"""The largest form that is read: whatever a browser lets be typed fits, in any script, so that a refusal can show it again."""
MOST_FIELDS = 500
"""So many fields may a form or an address have. The largest form of a page has a dozen."""
MOST_WAITING = 64
"""So many visitors may be held back at once until something happens; whoever comes beyond them is answered at once."""
Fields = Mapping[str, tuple[str, ...]]
"""What an address or a form says: the values of each name, in their order."""
_READ = ["GET", "HEAD"]
_FOR_EVER = "public, max-age=31536000, immutable"


def make_app(
    prober: OpenProber,
    door: OpenDoor,
    setup: Setup,
    *,
    now: Now = utc_now,
    watch: Watch | None = None,
    close: Callable[[], None] = lambda: None,
) -> Asgi:
    """Returns the app; `prober` and `door` are opened when first needed, `close` is called when the server ends."""
    return Secured(_App(prober, door, setup, now=now, watch=watch, close=close).routes)


class _App:
    def __init__(
        self,
        prober: OpenProber,
        door: OpenDoor,
        setup: Setup,
        *,
        now: Now,
        watch: Watch | None,
        close: Callable[[], None],
    ) -> None:
        self._setup = setup
        self._watch = watch or Watch(prober)
        self._reception = Reception(door, setup, self._watch, now=now)
        self._waiting = anyio.CapacityLimiter(MOST_WAITING)
        self.routes = FastAPI(
            openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_closing(setup, close)
        )
        # Plain routes: FastAPI's own read the cookies and the query before they call anything, in a time that is quadratic.
        for page in PAGES:
            self.routes.add_route(page.path, self._endpoint(page), methods=_READ if page.method == "GET" else ["POST"])
        self.routes.add_route(SIGN_IN, self._of_form(self._reception.sign_in), methods=_READ)
        self.routes.add_route(SIGN_IN, self._of_form(self._reception.begin), methods=["POST"])
        self.routes.add_route("/sign-out", self._of_form(self._reception.end), methods=["POST"])
        self.routes.add_route("/health", self._health, methods=_READ)
        self.routes.add_route("/assets/{digest}/{name}", self._asset, methods=_READ)
        self.routes.add_exception_handler(ClientDisconnect, _gone)
        self.routes.add_exception_handler(HTTPException, self._problem)
        self.routes.add_exception_handler(Exception, self._problem)

    def _endpoint(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            asked = await self._asked(request)
            if isinstance(asked, Response):
                return asked
            if not page.waits:
                return _response(await anyio.to_thread.run_sync(self._reception.answer, page, asked))
            # Those who wait have threads of their own, so that however many wait, none of the others does.
            may_wait = self._waiting.available_tokens > 0
            answer = partial(self._reception.answer, page, asked, may_wait=may_wait)
            limiter = self._waiting if may_wait else None
            return _response(await anyio.to_thread.run_sync(answer, limiter=limiter, abandon_on_cancel=True))

        return endpoint

    def _of_form(self, answer: Callable[[Asked], Replied]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            asked = await self._asked(request)
            return asked if isinstance(asked, Response) else _response(await anyio.to_thread.run_sync(answer, asked))

        return endpoint

    def _health(self, _request: Request) -> JSONResponse:
        panel = self._watch.panel()
        code = HTTPStatus.OK if panel.serves else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"serves": panel.serves, "state": WORDS[panel.state], "causes": panel.causes}, code)

    def _asset(self, request: Request) -> Response:
        digest, name = request.path_params["digest"], request.path_params["name"]
        rendering = self._reception.rendering
        if f"/assets/{digest}" != rendering.assets_at or name not in rendering.assets:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(rendering.assets[name], media_type=media_type(name), headers={"cache-control": _FOR_EVER})

    def _problem(self, request: Request, error: Exception) -> Response:
        problem = _of_framework(error)
        if problem is FAILED:
            log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
        response = self._told(problem, request)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    async def _asked(self, request: Request) -> Asked | Response:
        query = _fields(request.scope["query_string"])
        if query is None:
            return self._told(TOO_LONG, request)
        form: Fields | None = {}
        if request.method == "POST":
            body = await _body(request)
            form = None if body is None else _fields(body)
        return self._told(TOO_LARGE, request) if form is None else self._of(request, query, form)

    def _told(self, problem: Problem, request: Request) -> Response:
        """Returns a page that says what is wrong, whatever the address and the form hold."""
        return _response(self._reception.problem(problem, self._of(request, {}, {})))

    def _of(self, request: Request, query: Fields, form: Fields) -> Asked:
        return Asked(
            path=request.url.path.removeprefix(self._setup.root) or "/",
            parts={name: str(value) for name, value in request.path_params.items()},
            query=query,
            form=form,
            headers=_headers(request),
            source=request.client.host if request.client else "",
            sent=request.method == "POST",
        )


def _gone(_request: Request, _error: Exception) -> Response:
    """Whoever sent half a form and went reads no answer, and is nothing that failed."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)


def _of_framework(error: Exception) -> Problem:
    if not isinstance(error, HTTPException):
        return FAILED
    if error.status_code == HTTPStatus.NOT_FOUND:
        return NOT_HERE
    status = HTTPStatus(error.status_code)
    return Problem(status=status, title=status.phrase, detail=status.description, to_do=NOT_HERE.to_do)


def _response(replied: Replied) -> Response:
    response = Response(replied.html, replied.status, media_type="text/html; charset=utf-8" if replied.html else None)
    for name, value in replied.headers:
        response.headers.append(name, value)
    return response


async def _body(request: Request) -> bytes | None:
    """Returns the body, None when it is larger than any form."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            return None
    return bytes(body)


def _fields(encoded: bytes) -> Fields | None:
    """Returns the values of each field, None when there are more than any page of ours has. Takes a time that is linear."""
    try:
        pairs = parse_qsl(encoded.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in fields.items()}


def _headers(request: Request) -> dict[str, str]:
    """Returns the headers; one that came several times as all that it said, so that nobody picks what suits him."""
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        between = "; " if name == "cookie" else ", "
        headers[name] = f"{headers[name]}{between}{value}" if name in headers else value
    return headers


def _closing(setup: Setup, close: Callable[[], None]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def live(_app: FastAPI) -> AsyncIterator[None]:
        yield
        setup.stopping.set()
        close()

    return live
