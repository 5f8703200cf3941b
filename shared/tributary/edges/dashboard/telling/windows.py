"""Stretches of time up to now that pages let choose, and how long calls took within one."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.contract.activity import LatencyReply
from tributary.edges.dashboard.charts import Chart, histogram
from tributary.edges.dashboard.visit import Visit

WINDOWS: Mapping[int, str] = {24: "the last 24 hours", 24 * 7: "the last 7 days", 24 * 31: "the last 31 days"}


def window(visit: Visit) -> int:
    """Returns how many hours the form asks for: a day, unless it names another of WINDOWS."""
    asked = visit.asked("hours")
    return next((hours for hours in WINDOWS if str(hours) == asked), min(WINDOWS))


def latency(found: LatencyReply, *, label: str) -> Chart:
    """Returns how long calls took as a histogram."""
    bounds = [one.below_ms for one in found.bins if one.below_ms is not None]
    counts = [one.calls for one in found.bins]
    return histogram(bounds, counts, label=label, p50_ms=found.p50_ms, p95_ms=found.p95_ms)
