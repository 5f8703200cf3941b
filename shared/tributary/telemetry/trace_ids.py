"""Which trace this code runs in, so that a log line can name it."""

from __future__ import annotations

import sys


def trace_ids() -> dict[str, str]:
    """Returns `trace_id` and `span_id` in hexadecimal, nothing outside a span. Raises nothing, and imports nothing heavy.

    Without OpenTelemetry imported there is no span, ours or the host's, so it need not be asked.
    """
    if "opentelemetry.trace" not in sys.modules:
        return {}
    try:
        from opentelemetry import trace

        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": trace.format_trace_id(context.trace_id), "span_id": trace.format_span_id(context.span_id)}
    except Exception:  # whatever is wrong with it, a line is logged
        return {}
