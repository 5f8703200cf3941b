"""The entry points of the Lambda functions. Each opens what it needs at its first invocation and keeps it while warm."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tributary.core.errors import TributaryError
from tributary.edges.lambda_http.port import Context, Door, Event, Handler
from tributary.telemetry import Event as LogEvent
from tributary.telemetry import Metric, log, metrics, traces

if TYPE_CHECKING:
    from tributary.edges.lambda_http.metrics import Meter
    from tributary.edges.lambda_http.operations.ask import Operation
    from tributary.service import Cells, Settings

Made = TypeVar("Made")
HAND_OVER_S = 15.0
"""The time that must be left of an invocation for counts to be handed over: what it may take when the database hangs."""


class Counting(Protocol):
    """What is counted in the process, and written down now and then."""

    def flush_when_due(self) -> None: ...


def handler_for(function: str, *, settles: bool = False, operations: Mapping[str, Operation] | None = None) -> Handler:
    """Returns the handler of one of the functions that serve HTTP routes: `recall`, `learn`, `curate`, `mcp` or `responder`.

    One that `settles` takes the messages of the pending queue as well. `operations` are what it does, where these are not the
    API's own.
    """
    # Imported when the function's module is: Lambda gives the init phase a whole CPU, whatever the function is sized for.
    from tributary.edges.lambda_http.app import App
    from tributary.edges.lambda_http.metrics import metered

    opened: list[Cells] = []

    def open_counting() -> Cells:
        opened.append(_open_whole_memory())
        return opened[0]

    memory = once(open_counting)
    app = once(lambda: App(function, memory, operations=operations))
    start = once(_start(function, traced=True))

    def handler(event: Event, context: Context) -> dict[str, Any]:
        with metered(start()):
            try:
                if settles and _is_of_a_queue(event):
                    from tributary.edges.lambda_http.settling import settled

                    reply = settled(event, memory(), context)
                else:
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
    from tributary.edges.lambda_http.metrics import metered

    memory = once(_open_memory)
    start = once(_start("authorizer"))

    def handler(event: Event, _context: Context) -> dict[str, Any]:
        with metered(start()):
            return authorize(event, memory)

    return handler


def migrate_handler() -> Handler:
    """Returns the handler that brings the schema up to this code's. What it raises fails the deployment, as it must."""
    from tributary.edges.lambda_http.metrics import metered

    start = once(_start("migrate"))

    def handler(_event: Event, _context: Context) -> dict[str, Any]:
        from tributary.edges.lambda_http.migrating import migrated
        from tributary.service import load_settings

        with metered(start()):
            return migrated(load_settings())

    return handler


def operator_handler() -> Handler:
    """Returns the handler of what operators do; IAM says who may invoke it. It answers errors, and raises none."""
    from tributary.edges.lambda_http.metrics import metered

    start = once(_start("operator"))

    def handler(event: Event, context: Context) -> dict[str, Any]:
        from tributary.edges.lambda_http.operating import operated
        from tributary.service import load_settings, open_operator

        with metered(start()):
            # Opened anew each time: what is asked seldom would find its connection gone.
            return operated(event, context, lambda cell: open_operator(load_settings().in_cell(cell)))

    return handler


def gardener_handler() -> Handler:
    """Returns the handler that tends every tribe, for as long as the function may run; it answers with the report."""
    from tributary.edges.lambda_http.gardening import tended
    from tributary.edges.lambda_http.metrics import metered

    memory = once(_open_whole_memory)
    start = once(_start("gardener"))

    def handler(_event: Event, context: Context) -> dict[str, Any]:
        with metered(start()):
            try:
                return tended(memory().gardener, context)
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


def _start(function: str, *, traced: bool = False) -> Callable[[], Meter]:
    """Returns what a function's first invocation begins with: its log, a line that says which build this is, and its meter."""
    # CPU time, so that a process that Lambda keeps ready before anybody asks does not look slow
    init_ms = round(time.process_time() * 1000, 1)

    def start() -> Meter:
        from tributary.edges.lambda_http.metrics import meter_for
        from tributary.telemetry.build import this_build

        _configure_log()
        if traced:
            _configure_traces()
        build = this_build()
        log.event(
            LogEvent.FUNCTION_STARTED,
            function=function,
            version=build.version,
            build=build.build,
            python=build.python,
            init_ms=init_ms,
        )
        meter = meter_for(function, os.environ)
        meter([metrics.Measure(Metric.COLD_STARTS, 1)])
        return meter

    return start


def _is_of_a_queue(event: Event) -> bool:
    records = event.get("Records")
    return isinstance(records, list) and bool(records) and all(one.get("eventSource") == "aws:sqs" for one in records)


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
