"""The caller's trace goes on in the server, where the caller has one."""

from __future__ import annotations

import sys


def trace_headers() -> dict[str, str]:
    """Returns W3C `traceparent`, and `tracestate` where there is one, of the caller's span; nothing outside a span.

    Imports nothing unless the caller uses OpenTelemetry, and raises nothing whatever is wrong with that.
    """
    if "opentelemetry.trace" not in sys.modules:
        return {}
    carrier: dict[str, str] = {}
    try:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(carrier)
    except Exception:
        return {}
    return carrier
