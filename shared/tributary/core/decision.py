"""What the judge says of a pair, and what a learn came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tributary.core.errors import ModelMalformed, ModelRefused, ModelTimedOut
from tributary.core.lesson import Lesson


class VerdictKind(StrEnum):
    SAME = "same"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"
    UNSURE = "unsure"


JUDGE_UNAVAILABLE = "judge_unavailable"
JUDGE_REFUSED = "judge_refused"
JUDGE_MALFORMED = "judge_malformed"
JUDGE_TIMED_OUT = "judge_timed_out"
BUDGET_SPENT = "budget_spent"
NO_ANSWER = frozenset({JUDGE_UNAVAILABLE, JUDGE_REFUSED, JUDGE_MALFORMED, JUDGE_TIMED_OUT, BUDGET_SPENT})
"""Causes of a verdict that is no answer: the gardener asks again. The schema takes every verdict with a cause for such a one."""


def cause_of(error: Exception) -> str:
    """Returns why a judge that raised `error` gave no answer."""
    if isinstance(error, ModelRefused):
        return JUDGE_REFUSED
    if isinstance(error, ModelMalformed):
        return JUDGE_MALFORMED
    return JUDGE_TIMED_OUT if isinstance(error, ModelTimedOut) else JUDGE_UNAVAILABLE


class Outcome(StrEnum):
    LEARNED = "learned"
    REINFORCED = "reinforced"
    UNCHANGED = "unchanged"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    QUARANTINED = "quarantined"
    PENDING = "pending"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judge's answer for one (new lesson, candidate) pair; `confidence` in 0..1."""

    lesson_id: UUID
    kind: VerdictKind
    confidence: float
    judge: str
    """Name and version of the judge, as recorded in the decision."""
    reason: str
    cause: str | None = None
    """A code of NO_ANSWER when the judge gave no real answer; then the kind is `unsure`."""
    first: Verdict | None = None
    """What the cheap tier had said, where it was the strong one's to say."""

    @property
    def answered(self) -> bool:
        return self.cause is None

    def record(self) -> dict[str, object]:
        """Returns what a decision keeps of it beside the lesson's id: codes and figures, no text."""
        said: dict[str, object] = {
            "verdict": self.kind.value,
            "confidence": self.confidence,
            "judge": self.judge,
            "cause": self.cause,
        }
        return said if self.first is None else {**said, "first": self.first.record()}


@dataclass(frozen=True, kw_only=True)
class ScreenFinding:
    """What the screen says of one lesson; quarantined when there is any reason."""

    screen: str
    reasons: tuple[str, ...] = ()

    @property
    def quarantined(self) -> bool:
        return bool(self.reasons)


@dataclass(frozen=True, kw_only=True)
class Challenge:
    """An open dispute, or a possible conflict that the judge was unsure of; `text` is what the challenger says."""

    dispute_id: UUID
    lesson_id: UUID
    text: str


@dataclass(frozen=True, kw_only=True)
class Learned:
    """The reply to a learn. `lesson` is the one that now stands for what was said: the new one, or the one confirmed."""

    outcome: Outcome
    lesson: Lesson | None
    replaced: tuple[UUID, ...]
    dispute_id: UUID | None
    challenges: tuple[UUID, ...]
    reason: str
    decision_id: UUID
    tick: int
    replayed: bool
    precedent: UUID | None = None
    """The lesson that a curator rejected when the same was said before."""


@dataclass(frozen=True, kw_only=True)
class Reinforced:
    """The reply to a reinforce; `outcome` is reinforced, or unchanged when this agent had confirmed it before."""

    outcome: Outcome
    lesson: Lesson
    reason: str
    tick: int
    replayed: bool
