"""The entry points of the Lambda functions. Each opens what it needs at its first invocation and keeps it while warm."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tributary.core.errors import TributaryError
from tributary.edges.lambda_http.port import Context, Door, Event, Handler
from tributary.telemetry import log, traces

if TYPE_CHECKING:
    from tributary.edges.lambda_http.app import App
    from tributary.service import Cells, Settings

Made = TypeVar("Made")
HAND_OVER_S = 15.0
"""The time that must be left of an invocation for counts to be handed over: what it may take when the database hangs."""


class Counting(Protocol):
    """What is counted in the process, and written down now and then."""

    def flush_when_due(self) -> None: ...


def handler_for(function: str) -> Handler:
    """Returns the handler of one of the functions that serve HTTP routes: `recall`, `learn` or `curate`."""
    # Imported when the function's module is: Lambda gives the init phase a whole CPU, whatever the function is sized for.
    from tributary.edges.lambda_http.app import App
    from tributary.edges.lambda_http.metrics import meter_for

    opened: list[Cells] = []

    def open_counting() -> Door:
        opened.append(_open_whole_memory())
        return opened[0]

    def open_app() -> App:
        _configure_log()
        _configure_traces()
        return App(function, once(open_counting), meter=meter_for(function, os.environ))

    app = once(open_app)

    def handler(event: Event, context: Context) -> dict[str, Any]:
        try:
            reply = app()(event, context)
            hand_over((book for cells in opened for book in cells.books), context)
            return reply
        finally:
            flush_traces(context)

    return handler


def hand_over(books: Iterable[Counting], context: Context) -> None:
    """Hands over what was counted, when it is due and time is left for it: between requests, Lambda lets nothing run."""
    for book in books:
        if context.get_remaining_time_in_millis() >= HAND_OVER_S * 1000:
            book.flush_when_due()


def flush_traces(context: Context) -> None:
    """Sends the spans of an invocation, for a short while: after it, Lambda freezes the process."""
    traces.flush(min(traces.FLUSH_S, context.get_remaining_time_in_millis() / 2000))


def authorizer_handler() -> Handler:
    """Returns the handler of the authorizer."""
    from tributary.edges.lambda_http.authorizer import authorize

    memory = once(_open_memory)
    configure = once(_configure_log)

    def handler(event: Event, _context: Context) -> dict[str, Any]:
        configure()
        return authorize(event, memory)

    return handler


def migrate_handler() -> Handler:
    """Returns the handler that brings the schema up to this code's. What it raises fails the deployment, as it must."""

    def handler(_event: Event, _context: Context) -> dict[str, Any]:
        from tributary.edges.lambda_http.migrating import migrated
        from tributary.service import load_settings

        _configure_log()
        return migrated(load_settings())

    return handler


def operator_handler() -> Handler:
    """Returns the handler of what operators do; IAM says who may invoke it. It answers errors, and raises none."""
    configure = once(_configure_log)

    def handler(event: Event, context: Context) -> dict[str, Any]:
        from tributary.edges.lambda_http.operating import operated
        from tributary.service import load_settings, open_operator

        configure()
        # Opened anew each time: what is asked seldom would find its connection gone.
        return operated(event, context, lambda cell: open_operator(load_settings().in_cell(cell)))

    return handler


def gardener_handler() -> Handler:
    """Returns the handler that tends every tribe, for as long as the function may run; it answers with the report."""
    from tributary.edges.lambda_http.gardening import tended
    from tributary.edges.lambda_http.metrics import meter_for

    memory = once(_open_whole_memory)
    configure = once(_configure_log)

    def handler(_event: Event, context: Context) -> dict[str, Any]:
        configure()
        try:
            return tended(memory().gardener, context, meter=meter_for("gardener", os.environ))
        finally:
            flush_traces(context)

    return handler


def once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Returns a function that makes its thing at the first call and gives the same one ever after.

    When making it fails, the error goes to that caller and the next call tries again.
    """
    made: list[Made] = []
    lock = threading.Lock()

    def get() -> Made:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get


def _open_memory() -> Door:
    from tributary.service import load_settings, open_cells

    return open_cells(load_settings())


def _open_whole_memory() -> Cells:
    from tributary.service import open_cells

    return open_cells(_traced_settings())


def _traced_settings() -> Settings:
    from tributary.service import load_settings

    settings = load_settings()
    traces.configure(settings.traces, url=settings.traces_url)
    return settings


def _configure_traces() -> None:
    # Before the first request's span begins. What is wrong with the settings is told when the memory is opened with them.
    if os.environ.get("TRIBUTARY_TRACES"):
        with suppress(TributaryError):
            _traced_settings()


def _configure_log() -> None:
    log.configure_by(os.environ)
