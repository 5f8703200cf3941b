"""The frame of a chart: a figure's axis on the left, times or names below, and where a value lies between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from tributary.edges.dashboard.charts.chart import WIDTH, Shape, Word, n
from tributary.edges.dashboard.charts.figures import Unit, tick

Every = Literal["hour", "day"]

LEFT, RIGHT, TOP = 44.0, WIDTH - 5.0, 10.0
HEIGHT = 166.0
BOTTOM = HEIGHT - 24.0
_LABEL_UNITS = 7.0
"""How wide a letter of a label is at most."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Maps figures to heights, between two round ones."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Sequence[float], *, fit: bool = False, whole: bool = False, most: float | None = None) -> Scale:
        """Returns the scale from 0 to the largest figure, with `fit` from about the smallest.

        `whole` steps by no fraction; `most` is what no figure can exceed.
        """
        low, high = min(values, default=0.0), max(values, default=0.0)
        if not fit:
            low, high = min(low, 0.0), max(high, 0.0)
        if high == low:
            low, high = (low, low + 1) if not fit else (low - abs(low) / 20 - 0.01, high + abs(high) / 20 + 0.01)
        high = high if most is None else min(high, most)
        step = max(1.0, _round_step((high - low) / 4, (1.0, 2.0, 5.0))) if whole else _round_step((high - low) / 4)
        return cls(low=math.floor(low / step + 1e-9) * step, high=math.ceil(high / step - 1e-9) * step, step=step)

    def y(self, value: float) -> float:
        return BOTTOM - (value - self.low) / (self.high - self.low) * (BOTTOM - TOP)

    def drawn(self, unit: Unit) -> tuple[list[Shape], list[Word]]:
        """Returns the lines of the grid, and their figures."""
        marks = [self.low + self.step * number for number in range(round((self.high - self.low) / self.step) + 1)]
        d = "".join(f"M{n(LEFT)} {n(self.y(mark))}H{n(RIGHT)}" for mark in marks)
        words = [Word(x=LEFT - 5, y=self.y(mark) + 4, text=tick(round(mark, 12), unit), anchor="end") for mark in marks]
        return [Shape(d=d, ink="grid")], words


def places(count: int) -> Sequence[float]:
    """Returns the middles of so many equal columns."""
    width = (RIGHT - LEFT) / max(1, count)
    return [LEFT + width * (number + 0.5) for number in range(count)]


def named(names: Sequence[str]) -> list[Word]:
    """Returns names below their columns: as many as fit, always with the last one."""
    if not names:
        return []
    widest = max(map(len, names)) * _LABEL_UNITS + 8
    apart = max(1, math.ceil(widest / ((RIGHT - LEFT) / len(names))))
    at = places(len(names))
    return [_below(at[place], name) for place, name in enumerate(names) if (len(names) - 1 - place) % apart == 0]


def timed(starts: Sequence[datetime], every: Every) -> list[Word]:
    """Returns the hours or days of UTC below their columns: as many as fit, at round hours."""
    if every == "day":
        return named([f"{start.astimezone(UTC):%b} {start.astimezone(UTC).day}" for start in starts])
    at = places(len(starts))
    apart = next((hours for hours in (1, 2, 3, 6, 12, 24) if len(starts) / hours <= 6), 24)
    hours = [start.astimezone(UTC) for start in starts]
    return [
        _below(at[place], f"{hour:%b} {hour.day}" if hour.hour == 0 else f"{hour:%H}:00")
        for place, hour in enumerate(hours)
        if hour.hour % apart == 0
    ]


def cell_of(start: datetime, every: Every) -> str | datetime:
    """Returns what a table calls an hour or a day: days are those of UTC, whatever the zone of the reader."""
    return start if every == "hour" else f"{start.astimezone(UTC):%Y-%m-%d}"


def span(starts: Sequence[datetime], every: Every) -> str:
    """Returns in words which hours or days a chart covers."""
    first, last = (one.astimezone(UTC) for one in (starts[0], starts[-1]))
    if every == "day":
        return f"{len(starts)} days of UTC, {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    return f"{len(starts)} hours, {first:%Y-%m-%d %H:%M} to {last + timedelta(hours=1):%Y-%m-%d %H:%M} UTC"


def _below(x: float, text: str) -> Word:
    half = len(text) * _LABEL_UNITS / 2
    return Word(x=min(max(x, half + 2), WIDTH - half - 1), y=BOTTOM + 16, text=text, anchor="middle")


def _round_step(least: float, steps: Sequence[float] = (1.0, 2.0, 2.5, 5.0)) -> float:
    size = 10.0 ** math.floor(math.log10(least))
    return next(step * size for step in (*steps, 10.0) if step * size >= least * (1 - 1e-9))
