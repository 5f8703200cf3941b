"""The entry points of the Lambda functions. Each opens what it needs at its first invocation and keeps it while warm."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tributary import __version__
from tributary.core.errors import TributaryError
from tributary.edges.lambda_http.identity import build
from tributary.edges.lambda_http.port import Context, Event, Handler, MemoryFace
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import log, traces

if TYPE_CHECKING:
    from tributary.edges.lambda_http.app import App
    from tributary.service import Memory, Settings

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

    books: list[Counting] = []

    def open_counting() -> MemoryFace:
        memory = _open_whole_memory()
        books.extend((memory.usage, memory.ledger))
        return memory

    def open_app() -> App:
        _configure_log()
        _configure_traces()
        return App(function, once(open_counting), meter=meter_for(function, os.environ))

    app = once(open_app)

    def handler(event: Event, context: Context) -> dict[str, Any]:
        try:
            reply = app()(event, context)
            hand_over(books, context)
            return reply
        finally:
            flush_traces(context)

    return handler


def hand_over(books: Sequence[Counting], context: Context) -> None:
    """Hands over what was counted, when it is due and time is left for it: between requests, Lambda lets nothing run."""
    if context.get_remaining_time_in_millis() >= HAND_OVER_S * 1000:
        for book in books:
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
        from tributary.service import load_settings, open_operator

        _configure_log()
        with open_operator(load_settings()) as operator:
            return {"revision": operator.migrate()}

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


def _open_memory() -> MemoryFace:
    from tributary.service import load_settings, open_memory

    return open_memory(load_settings())


def _open_whole_memory() -> Memory:
    from tributary.service import open_memory

    return open_memory(_traced_settings())


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
    # Not by the settings: what is wrong with them must be logged too.
    level = os.environ.get("TRIBUTARY_LOG_LEVEL", "INFO").upper()
    known = level if level in logging.getLevelNamesMapping() else "INFO"
    log.configure(form="text" if os.environ.get("TRIBUTARY_LOG_FORMAT") == "text" else "json", level=known)
    log.event(LogEvent.FUNCTION_STARTED, version=__version__, build=build())
