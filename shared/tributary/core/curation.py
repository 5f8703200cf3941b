"""The words of curation: how disputes end, why lessons are retired, and what the review queue holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core.decision import Outcome, VerdictKind
from tributary.core.history import Citation
from tributary.core.lesson import Instant, Lesson


class Ending(StrEnum):
    """How a dispute ends. `accepted`: the contender is right, and every believed rival of it ends; `rejected`: it is wrong;
    `both_stand`: the verdict was wrong, they do not contradict each other; `moot`: the dispute lost its point by other changes.
    """

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    BOTH_STAND = "both_stand"
    MOOT = "moot"


class Rejection(StrEnum):
    """As what a curator rejected a lesson: the same is not silently believed when it comes again."""

    WRONG = "wrong"
    INJECTION = "injection"


class RetireCause(StrEnum):
    """Why a lesson is retired: it was true once, it never was, or it was an attack (a curator's word)."""

    OUTDATED = "outdated"
    WRONG = "wrong"
    INJECTION = "injection"


class DisputeKind(StrEnum):
    """`conflict`: the contender is not believed, and contradicts what is. `unsure`: both are believed, and may contradict."""

    CONFLICT = "conflict"
    UNSURE = "unsure"


class Signal(StrEnum):
    """What queued a case for review."""

    OVERRULED = "overruled"
    REPORTED = "reported"
    INJECTION = "injection"
    RELEASED = "released"
    BOTH_STAND = "both_stand"


class ReviewState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Mistake(StrEnum):
    """What a reported decision should have said: a verdict on a pair, or the screen's finding."""

    SAME = "same"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"
    HARMFUL = "harmful"
    HARMLESS = "harmless"

    @property
    def verdict(self) -> VerdictKind | None:
        """The verdict that it names, None when it is about the screen."""
        return None if self in (Mistake.HARMFUL, Mistake.HARMLESS) else VerdictKind(self.value)


@dataclass(frozen=True, kw_only=True)
class Retired:
    """The reply to a retire."""

    lesson: Lesson
    cause: RetireCause
    tick: int
    replayed: bool
    pended: bool = False
    """Whether lessons are pending by it: its own, or others that nothing speaks against any more."""


@dataclass(frozen=True, kw_only=True)
class Erased:
    """The reply to an erase; `erased` are the lesson and every other one of the very same words."""

    lesson: Lesson
    erased: tuple[UUID, ...]
    tick: int
    replayed: bool
    pended: bool = False
    """Whether lessons are pending by it: its own, or others that nothing speaks against any more."""


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The reply to a dispute's ending. `lesson` is the contender, or the one that now stands for what it said.

    `replaced` were superseded and `retired` retired by it; `dispute_id` is a new dispute that it led to, if any. `outcome` and
    `decision_id` are None when nothing had to be judged.
    """

    resolved: UUID
    ending: Ending
    outcome: Outcome | None
    lesson: Lesson
    replaced: tuple[UUID, ...]
    retired: tuple[UUID, ...]
    dispute_id: UUID | None
    challenges: tuple[UUID, ...]
    reason: str
    decision_id: UUID | None
    tick: int
    replayed: bool
    pended: bool = False
    """Whether lessons are pending by it: its own, or others that nothing speaks against any more."""


@dataclass(frozen=True, kw_only=True)
class Dispute:
    """A dispute with both sides as they stand now. `verdicts` are those of the decision that opened it, by lesson."""

    dispute_id: UUID
    kind: DisputeKind
    contender: Lesson
    about: tuple[Lesson, ...]
    opened: Instant
    closed: Instant | None
    ending: Ending | None
    closed_by: str | None
    rationale: str | None
    decision_id: UUID
    precedent: UUID | None
    verdicts: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, kw_only=True)
class Held:
    """A quarantined lesson, and why it is held back: the screen's reasons, as codes."""

    lesson: Lesson
    decision_id: UUID
    screen: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DecisionRecord:
    """One learn as it was decided. `draft` is what was said when no lesson of its own holds it; None once erased."""

    decision_id: UUID
    tick: int
    at: datetime
    writer: str
    actor: str
    lesson_id: UUID
    draft: Mapping[str, object] | None
    text: str | None
    """What was said, whether or not a lesson of its own holds it; None once erased."""
    judged_tick: int
    replans: int
    candidates: tuple[Mapping[str, object], ...]
    verdicts: tuple[Mapping[str, object], ...]
    screen: str
    screening: tuple[str, ...]
    outcome: Outcome
    reason: str
    receipts: tuple[Citation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DecisionDetail:
    """A decision with the lessons that it was about, as they stand now."""

    decision: DecisionRecord
    lesson: Lesson
    candidates: tuple[Lesson, ...]
    """In the order in which the decision names them."""


@dataclass(frozen=True, kw_only=True)
class Review:
    """A case that a golden set might learn from. `found` is what the model said, `expected` what it should have said."""

    review_id: UUID
    signal: Signal
    suite: str
    fingerprint: str
    """SHA-256 over suite and inputs, in hexadecimal: the same case has the same in every tribe."""
    inputs: Mapping[str, object]
    found: str
    expected: str
    note: str | None
    lesson_ids: tuple[UUID, ...]
    decision_id: UUID
    state: ReviewState
    golden: str | None
    """Id of the row of a golden set that an accepted case became."""
    reason: str | None
    """Why a rejected case teaches nothing."""
    by: str
    tick: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Reported:
    """The reply to a report; `queued` is False when the same case was in the queue already."""

    review_id: UUID
    decision_id: UUID
    queued: bool
    tick: int
    replayed: bool


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """A refusal, or a change that is no change of beliefs. `agent` is None when nobody was known."""

    audit_id: UUID
    at: datetime
    agent: str | None
    action: str
    code: str
    detail: str
