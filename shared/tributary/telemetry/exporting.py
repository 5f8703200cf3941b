"""The tracer provider of our entry points. It needs OpenTelemetry's SDK, so it is imported only where traces are on.

Spans wait in a bounded queue and are sent by a thread of the SDK's; when they are made faster than they can be sent, they
are dropped. What the SDK would log of its troubles becomes one event of ours, until sending works again.
"""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter, SpanExportResult

from tributary.core.errors import BadSetting
from tributary.telemetry import log
from tributary.telemetry.events import Event

CLOSE_S = 2.0
"""How long the end of a process may wait for the last spans to be sent."""
_PATH = "/v1/traces"


def start(exporter: Literal["otlp", "console"], url: str | None) -> Exporting | None:
    """Makes the process's tracer provider; returns None, and leaves all as it is, where the host has one already.

    Raises BadSetting when a variable of OpenTelemetry's cannot be used, and ImportError when a package is missing.
    """
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    health = _Health()
    _silence(health)
    try:
        provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(_Watched(_exporter(exporter, url), health)))
    except ImportError:
        raise
    except Exception as error:
        raise BadSetting(
            f"TRIBUTARY_TRACES: OpenTelemetry could not be set up ({type(error).__name__}); look at the OTEL_ variables"
        ) from error
    trace.set_tracer_provider(provider)
    ours = Exporting(provider, health)
    atexit.register(ours.close)
    return ours


class Exporting:
    """Our provider, with what its SDK does not do: flush and end in time."""

    def __init__(self, provider: TracerProvider, health: _Health) -> None:
        self._provider = provider
        self._health = health
        self._lock = threading.Lock()
        self._at_it: threading.Thread | None = None

    def flush(self, timeout_s: float) -> None:
        """Sends what waits, for at most `timeout_s`; it goes on after that, and while it does, or fails, nobody waits again."""
        with self._lock:
            wait_s = timeout_s if self._health.well else 0.0
            if self._at_it is not None and self._at_it.is_alive():
                return
            self._at_it = threading.Thread(target=self._provider.force_flush, name="tributary-traces", daemon=True)
            self._at_it.start()
        self._at_it.join(wait_s)

    def close(self) -> None:
        """Sends what waits, for at most CLOSE_S, and takes no more."""
        thread = threading.Thread(target=self._provider.shutdown, name="tributary-traces-end", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # an interpreter that ends starts no thread, and one without a bound must not hold it up
            return
        thread.join(CLOSE_S)


class _Health:
    """Says once that spans are lost, and again only after sending had worked in between."""

    def __init__(self) -> None:
        self.well = True
        self._lock = threading.Lock()

    def worked(self) -> None:
        with self._lock:
            self.well = True

    def failed(self, error: Exception | None = None) -> None:
        with self._lock:
            told, self.well = not self.well, False
        if not told:
            log.event(Event.TRACES_LOST, level=log.WARNING, error=error)


class _Watched(SpanExporter):
    """An exporter whose failures are noted, and go no further."""

    def __init__(self, exporter: SpanExporter, health: _Health) -> None:
        self._exporter = exporter
        self._health = health

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._exporter.export(spans)
        except Exception as error:
            self._health.failed(error)
            return SpanExportResult.FAILURE
        if result is SpanExportResult.SUCCESS:
            self._health.worked()
        else:
            self._health.failed()
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


class _Troubles(logging.Handler):
    """Takes what OpenTelemetry logs. Of its exporter we hear otherwise; the SDK itself warns when spans are dropped."""

    def __init__(self, health: _Health) -> None:
        super().__init__(logging.WARNING)
        self._health = health

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith("opentelemetry.sdk."):
            self._health.failed()


def _silence(health: _Health) -> None:
    logger = logging.getLogger("opentelemetry")
    logger.addHandler(_Troubles(health))
    logger.propagate = False


def _resource() -> Resource:
    found = Resource.create()
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):  # what the SDK says when nobody names it
        return found.merge(Resource({SERVICE_NAME: "tributary"}))
    return found


def _exporter(exporter: Literal["otlp", "console"], url: str | None) -> SpanExporter:
    if exporter == "console":
        # Standard output belongs to the results of commands.
        return ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: span.to_json(indent=None) + "\n")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=None if url is None else _endpoint(url))


def _endpoint(url: str) -> str:
    """Returns the whole endpoint: one that is given without a path has the path that the protocol names."""
    return url if urlsplit(url).path.strip("/") else url.rstrip("/") + _PATH
