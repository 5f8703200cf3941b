"""When a tribe changed: a bar for each hour or day, each with the tick at its end. Numbers in, a description out; no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tributary.contract.activity import ActivityReply, Every

HEIGHT = 100
STEP = 10
"""How wide a bar is with the space beside it, in units of the picture."""
_LEAST = 6.0
"""So high is the lowest bar of any change: one of many thousands is to be seen, too."""
_LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One hour or day. `last` is the tick at which the tribe stood at its end."""

    start: datetime
    end: datetime
    ticks: int
    last: int
    x: int
    height: float

    @property
    def y(self) -> float:
        return HEIGHT - self.height


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The bars, oldest first, and how many ticks lie before them."""

    bars: Sequence[Bar]
    every: Every
    before: int

    @property
    def width(self) -> int:
        return STEP * len(self.bars)

    @property
    def ticks(self) -> int:
        """How many changes fell into the bars."""
        return sum(bar.ticks for bar in self.bars)

    @property
    def busiest(self) -> Bar:
        return max(self.bars, key=lambda bar: bar.ticks)

    def at(self, moment: datetime) -> Bar | None:
        """Returns the bar in which an instant lies; None where it lies before them all, or after."""
        return next((bar for bar in self.bars if bar.start <= moment < bar.end), None)


def strip(activity: ActivityReply, clock: int) -> Strip:
    """Returns the bars of what was read while the tribe stood at tick `clock`, or a little later."""
    most = max((bucket.ticks for bucket in activity.buckets), default=0)
    bars = []
    last = clock
    for place, bucket in reversed(list(enumerate(activity.buckets))):
        height = max(_LEAST, HEIGHT * bucket.ticks / most) if bucket.ticks else 0.0
        end = bucket.start + _LENGTHS[activity.every]
        bars.append(Bar(start=bucket.start, end=end, ticks=bucket.ticks, last=last, x=STEP * place, height=round(height, 1)))
        last = max(0, last - bucket.ticks)
    return Strip(bars=bars[::-1], every=activity.every, before=last)
