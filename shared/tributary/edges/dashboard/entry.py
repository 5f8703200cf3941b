"""The entry points of the dashboard: the container's app, and the Lambda function's handler. Nothing is opened early."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from tributary.edges.dashboard.port import Asgi, FrontDoor, OpenDoor, OpenProber, ProberFace, Setup
from tributary.edges.lambda_http.entry import Counting, hand_over, once
from tributary.telemetry import log

if TYPE_CHECKING:
    from tributary.edges.lambda_http.port import Context
    from tributary.service import Cells, Settings


class MakeApp(Protocol):
    def __call__(self, prober: OpenProber, door: OpenDoor, setup: Setup, *, close: Callable[[], None]) -> Asgi: ...


def container_app() -> Asgi:
    """Returns the app over what the environment's settings name; for uvicorn's `--factory`."""
    from tributary.edges.dashboard.app import make_app

    # less than the time in which the server is to end
    return _Served(make_app, stays=True, live_s=8.0).app


def lambda_handler() -> Callable[[dict[str, Any], Context], dict[str, Any]]:
    """Returns the handler that answers API Gateway's events (HTTP API, payload format 2.0) with the same app."""
    # Imported when the function's module is: Lambda gives the init phase a whole CPU, whatever the function is sized for.
    from mangum import Mangum

    from tributary.edges.dashboard.app import make_app

    @cache
    def served() -> tuple[_Served, Mangum]:
        made = _Served(make_app, stays=False, live_s=0.0)
        return made, Mangum(made.app, lifespan="off")

    def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:
        made, adapter = served()
        reply: dict[str, Any] = adapter(event, context)  # type: ignore[arg-type]  # the adapter wants more of a context than it uses
        hand_over(made.books, context)
        return reply

    return handler


def local_app(door: FrontDoor, settings: Settings, *, root: str, stopping: threading.Event, opened: ExitStack) -> Asgi:
    """Returns the app over a memory that is open already, for a server that shows other things beside it.

    What looks at the databases is opened when first needed, and closed with `opened`.
    """
    from tributary.edges.dashboard.app import make_app

    def prober() -> ProberFace:
        from tributary.service import open_prober

        return opened.enter_context(open_prober(settings))

    setup = Setup(secure=False, root=root, public_token=lambda: settings.public_token, stopping=stopping)
    return make_app(once(prober), lambda: door, setup)


class _Served:
    """The app, and what it opened."""

    def __init__(self, make_app: MakeApp, *, stays: bool, live_s: float) -> None:
        """`stays` in a process that goes on between requests."""
        self._stays = stays
        # Once: to read and check them takes milliseconds, and each visit without a session asks whether there is a public token.
        self._settings = once(_load_settings)
        log.configure_by(os.environ)
        self._opened = ExitStack()
        self._cells: list[Cells] = []
        setup = Setup(secure=True, live_s=live_s, public_token=lambda: self._settings().public_token)
        self.app = make_app(once(self._prober), once(self._door), setup, close=self._opened.close)

    @property
    def books(self) -> Iterable[Counting]:
        return (book for cells in self._cells for book in cells.books)

    def _prober(self) -> ProberFace:
        from tributary.service import open_prober

        return self._opened.enter_context(open_prober(self._settings()))

    def _door(self) -> Cells:
        from tributary.contract.limits import CHANGES_WAIT_S
        from tributary.service import counting_cells, open_cells

        settings = self._settings()
        if self._stays and settings.changes_wait_s is None:  # here a page that waits costs a thread, and no Lambda
            settings = settings.model_copy(update={"changes_wait_s": CHANGES_WAIT_S})
        cells = self._opened.enter_context(open_cells(settings))
        if self._stays:
            self._opened.enter_context(counting_cells(cells))
        self._cells.append(cells)
        return cells


def _load_settings() -> Settings:
    from tributary.service import load_settings

    return load_settings()
