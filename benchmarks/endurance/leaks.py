"""Tells a leak from noise, in a series of what a process took."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 12
"""Of fewer samples nothing is said."""
MOST_POINTS = 200
"""A longer series is thinned to so many medians: the slope is that of all pairs."""
STEADY = 0.15
"""Share of the growth that each of the two halves of the window must show: one step up, and flat since, is no leak."""


@dataclass(frozen=True, kw_only=True)
class Trend:
    """How a series went over the window that is judged: its second half, after the warm-up.

    `growth` is what the line through it rises by, in the unit of the series: Theil and Sen's slope, the median of the slopes of
    all pairs of points, times the length of the window. Up to 29 of 100 samples may be anything without moving it far.
    """

    level: float
    growth: float
    tolerance: float
    steady: bool

    @property
    def leaks(self) -> bool:
        return self.steady and self.growth > self.tolerance


def trend_of(series: Sequence[float], *, least: float, share: float) -> Trend | None:
    """Judges the second half of a series sampled at even times; None when it is too short.

    It may grow by `least`, or by `share` of its level where that is more.
    """
    window = _thinned(series[len(series) // 2 :])
    if len(window) < FEWEST:
        return None
    places = np.arange(len(window), dtype=np.float64)
    values = np.asarray(window, dtype=np.float64)
    first, second = np.triu_indices(len(window), k=1)
    slope = float(np.median((values[second] - values[first]) / (places[second] - places[first])))
    growth = slope * (len(window) - 1)
    third = len(window) // 3
    early, middle, late = (statistics.median(part) for part in (window[:third], window[third:-third], window[-third:]))
    steady = min(middle - early, late - middle) > STEADY * growth
    level = statistics.median(window)
    return Trend(level=level, growth=growth, tolerance=max(least, share * level), steady=steady)


def _thinned(series: Sequence[float]) -> list[float]:
    size = -(-len(series) // MOST_POINTS) if series else 1
    return [statistics.median(series[at : at + size]) for at in range(0, len(series), size)]
