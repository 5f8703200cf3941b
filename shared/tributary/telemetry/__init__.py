"""Logs and traces: what the product tells of itself."""

from tributary.telemetry import log, traces
from tributary.telemetry.events import Event
from tributary.telemetry.spans import Attribute, Span

__all__ = ["Attribute", "Event", "Span", "log", "traces"]
