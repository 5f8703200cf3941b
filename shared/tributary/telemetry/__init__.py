"""Logs, metrics and traces: what the product tells of itself."""

from tributary.telemetry import log, metrics, traces
from tributary.telemetry.events import Event
from tributary.telemetry.metrics import Metric
from tributary.telemetry.spans import Attribute, Span

__all__ = ["Attribute", "Event", "Metric", "Span", "log", "metrics", "traces"]
