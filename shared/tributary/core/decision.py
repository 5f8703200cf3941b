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


class NoAnswer(StrEnum):
    """Why a judge gave no answer about a pair. The pair stays `unsure`, and the gardener asks about it again.

    Nothing else counts as no answer; `no_answer_v1` in the schema holds the same codes.
    """

    UNAVAILABLE = "judge_unavailable"
    TIMED_OUT = "judge_timed_out"
    REFUSED = "judge_refused"
    MALFORMED = "judge_malformed"
    BUDGET_SPENT = "budget_spent"
    """The strong judge was not asked, since the budget of the day is spent; it is once there is budget again."""

    @classmethod
    def of(cls, error: BaseException) -> NoAnswer:
        """Returns the cause that a failure of a judge is recorded by."""
        return cls(f"judge_{_failure(error)}")

    @property
    def replied(self) -> bool:
        """Tells whether the model did reply, if with nothing of use: it may well do so again, and is not asked for ever."""
        return self in (NoAnswer.REFUSED, NoAnswer.MALFORMED)


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
    """A code when the judge gave no real answer: one of `NoAnswer`."""
    first: Verdict | None = None
    """What the cheap tier had said, where it was the strong one's to say."""

    def record(self) -> dict[str, object]:
        """Returns what a decision keeps of it beside the lesson's id: codes and figures, no text."""
        said: dict[str, object] = {
            "verdict": self.kind.value,
            "confidence": self.confidence,
            "judge": self.judge,
            "cause": self.cause,
        }
        return said if self.first is None else {**said, "first": self.first.record()}

    @classmethod
    def unanswered(cls, lesson_id: UUID, *, judge: str, cause: NoAnswer, reason: str) -> Verdict:
        """Returns what stands for an answer that a judge did not give."""
        return cls(lesson_id=lesson_id, kind=VerdictKind.UNSURE, confidence=0.0, judge=judge, reason=reason, cause=cause)

    @property
    def no_answer(self) -> NoAnswer | None:
        """Returns why this is no answer, None when it is one."""
        return NoAnswer(self.cause) if self.cause in set(NoAnswer) else None

    @property
    def answered(self) -> bool:
        return self.no_answer is None

    @property
    def escalated(self) -> bool:
        """Tells whether the strong judge was asked about the pair as well."""
        return self.first is not None and self.no_answer is not NoAnswer.BUDGET_SPENT


class Unscreened(StrEnum):
    """Why a screen said nothing about a lesson.

    A lesson is held back as `screen_unavailable` whichever it was, and the gardener has it screened again; for one of the others
    when the gardener gave up on that. The schema holds `screen_unavailable` too.
    """

    UNAVAILABLE = "screen_unavailable"
    TIMED_OUT = "screen_timed_out"
    REFUSED = "screen_refused"
    MALFORMED = "screen_malformed"

    @classmethod
    def of(cls, error: BaseException) -> Unscreened:
        return cls(f"screen_{_failure(error)}")

    @property
    def replied(self) -> bool:
        """Tells whether the model did reply, if with nothing of use."""
        return self in (Unscreened.REFUSED, Unscreened.MALFORMED)


SCREEN_UNAVAILABLE = Unscreened.UNAVAILABLE.value
"""The reason of a lesson that is held back because no screen could say anything; the gardener has it screened again."""


def _failure(error: BaseException) -> str:
    kinds = {ModelTimedOut: "timed_out", ModelRefused: "refused", ModelMalformed: "malformed"}
    return next((failure for kind, failure in kinds.items() if isinstance(error, kind)), "unavailable")


@dataclass(frozen=True, kw_only=True)
class ScreenFinding:
    """What the screen says of one lesson; quarantined when there is any reason."""

    screen: str
    reasons: tuple[str, ...] = ()
    unscreened: Unscreened | None = None
    """Why the screen said nothing, where it did not: then the reason is no finding. Not kept."""

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
    pended: bool = False
    """Whether lessons are pending by it: this one, or others that nothing speaks against any more."""


@dataclass(frozen=True, kw_only=True)
class Reinforced:
    """The reply to a reinforce; `outcome` is reinforced, or unchanged when this agent had confirmed it before."""

    outcome: Outcome
    lesson: Lesson
    reason: str
    tick: int
    replayed: bool
