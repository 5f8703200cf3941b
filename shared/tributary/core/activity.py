"""How busy a tribe was: what happened in each hour or day of a stretch of time, and how long it took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from tributary.core.receipt import Coverage

BOUNDS_MS = tuple(step * 10.0**exponent for exponent in range(5) for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
"""Where the bins of latencies end, the last one apart: six in each power of ten.

Counts are kept by the number of their bin, so that other bounds need other names of what is counted (`activity` in the schema).
"""
BINS = len(BOUNDS_MS) + 1
HOURLY = 72
"""The most hours that are told hour by hour; beyond them it is day by day."""


def bin_of(ms: float) -> int:
    """Returns the number of the bin that a latency belongs to, as PostgreSQL's width_bucket does."""
    return bisect_right(BOUNDS_MS, ms)


class Every(StrEnum):
    """How long a bucket is."""

    HOUR = "hour"
    DAY = "day"

    @property
    def length(self) -> timedelta:
        return timedelta(hours=1) if self is Every.HOUR else timedelta(days=1)

    def start(self, moment: datetime) -> datetime:
        """Returns when the hour or day of UTC began that a moment is in."""
        whole = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        return whole if self is Every.HOUR else whole.replace(hour=0)


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of whole buckets. The last one is still running, so `end` lies ahead."""

    every: Every
    starts: Sequence[datetime]

    @classmethod
    def of(cls, now: datetime, hours: int) -> Window:
        """Returns the last so many hours, or the days that they make up, with the one that is running."""
        every = Every.HOUR if hours <= HOURLY else Every.DAY
        buckets = hours if every is Every.HOUR else -(-hours // 24)
        last = every.start(now)
        return cls(every=every, starts=tuple(last - every.length * back for back in reversed(range(buckets))))

    @property
    def since(self) -> datetime:
        return self.starts[0]

    @property
    def end(self) -> datetime:
        return self.starts[-1] + self.every.length


@dataclass(frozen=True, kw_only=True)
class Latency:
    """How many calls took how long, by bin."""

    counts: tuple[int, ...] = (0,) * BINS

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Latency:
        return cls(counts=tuple(counts.get(number, 0) for number in range(BINS)))

    @property
    def calls(self) -> int:
        return sum(self.counts)

    def quantile_ms(self, share: float) -> float | None:
        """Returns what so large a share of the calls, in 0..1, took no longer than; None of no calls.

        Calls count as spread evenly over their bin; those of the last, which has no end, as having taken what it begins with.
        """
        wanted, before = share * self.calls, 0
        for number, count in enumerate(self.counts):
            if count and before + count >= wanted:
                low = BOUNDS_MS[number - 1] if number else 0.0
                high = BOUNDS_MS[number] if number < len(BOUNDS_MS) else low
                return low + (high - low) * (wanted - before) / count
            before += count
        return None


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """One hour or day. `events` and `recalls` leave out what did not happen."""

    start: datetime
    ticks: int
    events: Mapping[str, int]
    recalls: Mapping[Coverage, int]


@dataclass(frozen=True, kw_only=True)
class Conflicts:
    """How contradictions ended: by a new lesson that replaced what it contradicts, or by a curator."""

    replaced: int
    accepted: int
    rejected: int
    both_stand: int

    @property
    def total(self) -> int:
        return self.replaced + self.accepted + self.rejected + self.both_stand


@dataclass(frozen=True, kw_only=True)
class ModelCalls:
    """Calls of one model for one purpose, as `core.costs.Cost` has them."""

    purpose: str
    model: str
    failed: int
    unpriced: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal
    latency: Latency


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Pairs that a judge answered about, and those of them that the strong judge was asked about as well."""

    pairs: int
    escalated: int

    @property
    def escalation_rate(self) -> float | None:
        return self.escalated / self.pairs if self.pairs else None


@dataclass(frozen=True, kw_only=True)
class Models:
    """What models were called for, the dearest first."""

    calls: tuple[ModelCalls, ...]
    judging: Judging


@dataclass(frozen=True, kw_only=True)
class Activity:
    """How busy a tribe was. Recalls, latencies and pairs are counted best effort, and come in up to a minute late."""

    window: Window
    until: datetime
    """When it was looked at."""
    buckets: tuple[Bucket, ...]
    """In order, without a gap."""
    conflicts: Conflicts
    recall: Latency = field(default_factory=Latency)
    learn: Latency = field(default_factory=Latency)
    models: Models | None = None
    """For curators only."""
