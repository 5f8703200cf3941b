"""The catalogue of metrics, and how the library counts: whoever knows a figure records it, whoever opened a tally gets it.

Nothing in between hands figures on. Without a tally, as everywhere but on Lambda, recording does nothing. It raises nothing and
waits for nothing; what is done with a tally is up to the edge that opened it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

COUNT = "Count"
MILLISECONDS = "Milliseconds"
SECONDS = "Seconds"
US_DOLLARS = "None"
"""CloudWatch knows no money."""


class Metric(StrEnum):
    """Every metric by its name, with CloudWatch's name of its unit and its one dimension besides `service`, if it has one.

    docs/metrics.md says what each means.
    """

    unit: str
    dimension: str | None

    def __new__(cls, name: str, unit: str, dimension: str | None = None) -> Metric:
        self = str.__new__(cls, name)
        self._value_ = name
        self.unit = unit
        self.dimension = dimension
        return self

    LATENCY = "Latency", MILLISECONDS, "operation"
    PROBLEMS = "Problems", COUNT, "code"
    COLD_STARTS = "ColdStarts", COUNT
    RECALL_LATENCY = "RecallLatency", MILLISECONDS, "path"
    COVERAGE = "Coverage", COUNT, "coverage"
    LEARNED = "Learned", COUNT, "outcome"
    GATE_WAIT = "GateWait", MILLISECONDS
    REPLANS = "Replans", COUNT
    ESCALATIONS = "Escalations", COUNT
    MODEL_CALLS = "ModelCalls", COUNT, "purpose"
    MODEL_FAILURES = "ModelFailures", COUNT, "purpose"
    MODEL_COST = "ModelCost", US_DOLLARS, "purpose"
    PENDING_NOTICES = "PendingNotices", COUNT
    PENDING_NOTICES_FAILED = "PendingNoticesFailed", COUNT
    QUEUE_MESSAGES = "QueueMessages", COUNT, "result"
    GARDEN_LATENCY = "GardenLatency", MILLISECONDS
    GARDEN_DONE = "GardenDone", COUNT, "rule"
    GARDEN_LEFT = "GardenLeft", COUNT, "rule"
    GARDEN_REFUSED = "GardenRefused", COUNT, "rule"
    GARDEN_FAILED = "GardenFailed", COUNT, "rule"
    GARDEN_WAITING = "GardenWaiting", COUNT
    LESSONS_PENDING = "LessonsPending", COUNT
    LESSONS_QUARANTINED = "LessonsQuarantined", COUNT
    DISPUTES_OPEN = "DisputesOpen", COUNT
    OLDEST_DISPUTE = "OldestDispute", SECONDS
    CHALLENGES_OPEN = "ChallengesOpen", COUNT
    CLOCK_AHEAD = "ClockAhead", SECONDS
    ACTIONS = "Actions", COUNT, "outcome"
    ACTIONS_IN_DOUBT = "ActionsInDoubt", COUNT


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure; `of` is the value of the metric's dimension, None where it has none."""

    metric: Metric
    value: float
    of: str | None = None


@dataclass(frozen=True)
class Tally:
    """What was recorded while it was open. Threads may record in it at once, where they run in its context."""

    measures: list[Measure] = field(default_factory=list)


_tally: ContextVar[Tally | None] = ContextVar("tributary_tally", default=None)


@contextmanager
def tallied() -> Iterator[Tally]:
    """Collects what the block records; a thread that it starts needs a copy of its context."""
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


def record(metric: Metric, value: float = 1.0, *, of: str | None = None) -> None:
    """Adds a figure to the tally at hand, if there is one."""
    tally = _tally.get()
    if tally is not None:
        tally.measures.append(Measure(metric, value, of))
