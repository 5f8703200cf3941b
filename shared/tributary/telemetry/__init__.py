"""Logs, and later metrics and traces: what the product tells of itself."""

from tributary.telemetry import log
from tributary.telemetry.events import Event

__all__ = ["Event", "log"]
