"""The difference between two moments of a tribe: what it came to believe, and what it ceased to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core.confidence import expired
from tributary.core.history import Happening, Occurrence
from tributary.core.lesson import Instant, Lesson
from tributary.core.receipt import Receipt


class How(StrEnum):
    """How a lesson came to be believed, or ceased to be. `expired` and `withered` are the work of time, written down or not."""

    LEARNED = "learned"
    REVIVED = "revived"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    EVICTED = "evicted"
    ERASED = "erased"
    EXPIRED = "expired"
    WITHERED = "withered"


_LAPSED = "lapsed"
"""The cause of an event by which a learner retired what time had ended before, in whichever of the two ways."""


@dataclass(frozen=True, kw_only=True)
class BeliefChange:
    """A lesson, as it stood at the later moment, that was believed at one of two moments and not at the other.

    began      whether it was believed at the later one
    event      what did it; None where time alone did
    replaced   lessons that it superseded when it began
    """

    lesson: Lesson
    confidence: float
    began: bool
    how: How
    at: datetime
    event: Occurrence | None
    replaced: tuple[UUID, ...]


@dataclass(frozen=True, kw_only=True)
class Diff:
    """A page of the changes between two moments, newest first, and how many there are on all pages."""

    since: Instant
    until: Instant
    began: int
    ended: int
    changes: tuple[BeliefChange, ...]
    next_before: str | None
    receipt: Receipt


def how_ended(lesson: Lesson, event: Occurrence, *, at: datetime) -> How:
    """Returns how the belief in `lesson` ended at `at` by `event`: what time had ended, and this only wrote down, by time."""
    if event.event is not Happening.RETIRED:
        return How(event.event.value)
    if event.cause == _LAPSED:
        return How.EXPIRED if expired(lesson, at=at) else How.WITHERED
    return How(event.cause) if event.cause in (How.EXPIRED.value, How.WITHERED.value) else How.RETIRED
