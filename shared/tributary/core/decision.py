"""What the judge says of a pair, and what a learn came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tributary.core.lesson import Lesson


class VerdictKind(StrEnum):
    SAME = "same"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"
    UNSURE = "unsure"


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
    """A code when the judge gave no real answer, such as `judge_unavailable`."""
    first: Verdict | None = None
    """What the cheap tier had said, where the strong one was asked as well."""


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
