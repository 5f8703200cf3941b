"""Confidence as shown: it rises with distinct confirming agents and falls with contradictions and age.

    posterior = (K * prior + confirmations) / (K + confirmations + contradictions)      K = 2
    shown     = posterior * freshness
    freshness = 0.5 ^ (age since last confirmed / half-life of the kind)

The posterior is the mean of a Beta distribution whose prior has the writer's confidence as its mean and the weight of K
observations. Nothing of this is stored: reads compute it for the instant they are asked about.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from tributary.core.lesson import Kind

PRIOR_WEIGHT = 2.0
WITHERED_BELOW = 0.2

HALF_LIFE_DAYS: dict[Kind, float] = {
    Kind.GOTCHA: 90,
    Kind.ENTITY_FACT: 14,
    Kind.OBSERVATION: 30,
    Kind.RUNBOOK_FACT: 90,
    Kind.RESOLUTION: 180,
    Kind.REJECTED_HYPOTHESIS: 365,
}


class Fading(Protocol):
    """The part of a lesson that its confidence and its end by time depend on."""

    @property
    def kind(self) -> Kind: ...
    @property
    def confidence(self) -> float: ...
    @property
    def confirmations(self) -> int: ...
    @property
    def contradictions(self) -> int: ...
    @property
    def last_confirmed_at(self) -> datetime: ...
    @property
    def valid_until(self) -> datetime | None: ...


class Beginning(Protocol):
    """The part of a lesson that says from when on it holds."""

    @property
    def valid_from(self) -> datetime | None: ...


def half_life(kind: Kind) -> timedelta:
    return timedelta(days=HALF_LIFE_DAYS[kind])


def freshness(lesson: Fading, *, at: datetime) -> float:
    """Returns 0..1: 1 when just confirmed, 0.5 one half-life later. A lesson from the future counts as fresh."""
    age_s = max(0.0, (at - lesson.last_confirmed_at).total_seconds())
    return float(0.5 ** (age_s / half_life(lesson.kind).total_seconds()))


def shown_confidence(lesson: Fading, *, at: datetime) -> float:
    """Returns the confidence (0..1) to show for `lesson` at the instant `at`."""
    return posterior(lesson) * freshness(lesson, at=at)


def posterior(lesson: Fading) -> float:
    """Returns the confidence (0..1) of a lesson that was confirmed just now."""
    weight = PRIOR_WEIGHT + lesson.confirmations + lesson.contradictions
    return (PRIOR_WEIGHT * lesson.confidence + lesson.confirmations) / weight


def expired(lesson: Fading, *, at: datetime) -> bool:
    """Tells whether the validity interval [valid_from, valid_until) is over at `at`."""
    return lesson.valid_until is not None and lesson.valid_until <= at


def not_yet_valid(lesson: Beginning, *, at: datetime) -> bool:
    return lesson.valid_from is not None and at < lesson.valid_from


def withered(lesson: Fading, *, at: datetime) -> bool:
    """Tells whether nobody confirmed it for a half-life and what is left of its confidence is under WITHERED_BELOW."""
    unconfirmed_for = at - lesson.last_confirmed_at
    return unconfirmed_for >= half_life(lesson.kind) and shown_confidence(lesson, at=at) < WITHERED_BELOW


def lapsed(lesson: Fading, *, at: datetime) -> bool:
    """Tells whether a lesson stored as active is no longer believed, by time alone."""
    return expired(lesson, at=at) or withered(lesson, at=at)
