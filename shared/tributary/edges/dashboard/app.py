"""The dashboard as an ASGI app: FastAPI's routes around one watch, and the same for every way in which it is served."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from tributary import __version__
from tributary.core.clock import Now, utc_now
from tributary.edges.dashboard.headers import Secured
from tributary.edges.dashboard.pages import ASSETS, WORDS, Pages, lasted
from tributary.edges.dashboard.port import Asgi, OpenProber
from tributary.edges.dashboard.watch import Watch
from tributary.telemetry import Event, log

_READ = ["GET", "HEAD"]
_FOR_EVER = "public, max-age=31536000, immutable"


def make_app(
    prober: OpenProber, *, now: Now = utc_now, watch: Watch | None = None, close: Callable[[], None] = lambda: None
) -> Asgi:
    """Returns the app; `prober` is opened at the first look, `close` is called when the server ends."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_closing(close))
    watching = watch or Watch(prober)
    pages = Pages()
    began = now()

    def status() -> HTMLResponse:
        at = now()
        panel = watching.panel()
        about = (
            ("Version", f"tributary-memory {__version__}"),
            ("Read replica", "set up" if panel.has_replica else "none is set up"),
            ("This process runs for", lasted(at - began)),
        )
        return HTMLResponse(pages.page("status.html", {"panel": panel, "at": at, "about": about}))

    def health() -> JSONResponse:
        panel = watching.panel()
        code = HTTPStatus.OK if panel.serves else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse({"serves": panel.serves, "state": WORDS[panel.state], "causes": panel.causes}, code)

    def asset(digest: str, name: str) -> Response:
        if f"/assets/{digest}" != pages.assets_at or name not in ASSETS:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(pages.assets[name], media_type=ASSETS[name], headers={"cache-control": _FOR_EVER})

    def problem(_request: Request, error: Exception) -> HTMLResponse:
        if isinstance(error, HTTPException):
            code, headers = HTTPStatus(error.status_code), error.headers
        else:
            code, headers = HTTPStatus.INTERNAL_SERVER_ERROR, None
            log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
        return HTMLResponse(pages.page("problem.html", {"code": code.value, "title": code.phrase}), code, headers)

    app.add_api_route("/", status, methods=_READ)
    app.add_api_route("/health", health, methods=_READ)
    app.add_api_route("/assets/{digest}/{name}", asset, methods=_READ)
    app.add_exception_handler(HTTPException, problem)
    app.add_exception_handler(Exception, problem)
    return Secured(app)


def _closing(close: Callable[[], None]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def live(_app: FastAPI) -> AsyncIterator[None]:
        yield
        close()

    return live
