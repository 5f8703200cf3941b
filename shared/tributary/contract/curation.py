"""Requests and replies of curation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from tributary.contract import limits
from tributary.contract.models import CitedReceiptReply, InstantReply, LessonReply, Outcome, ReceiptReply, Reply, Request
from tributary.contract.models import How as HowName
from tributary.contract.values import Filled, LessonId, Note, Rationale, Tick

RetireCause = Literal["outdated", "wrong", "injection"]
Ending = Literal["accepted", "rejected", "both_stand", "moot"]
DisputeKind = Literal["conflict", "unsure"]
Verdict = Literal["same", "conflicts", "unrelated", "unsure"]
Signal = Literal["overruled", "reported", "injection", "released", "both_stand"]
ReviewState = Literal["open", "accepted", "rejected"]
Mistake = Literal["same", "conflicts", "unrelated", "harmful", "harmless"]
EqualsName = Literal["dispute", "newest_observation"]


class RetireRequest(Request):
    """Why the lesson ends. What a curator calls wrong or an injection is not silently believed when it comes again."""

    cause: RetireCause = "outdated"


class ReleaseRequest(Request):
    """A curator overrides the screen; the body may be empty."""


class EraseRequest(Request):
    """The body may be empty."""


class EndingRequest(Request):
    """How a dispute ends. `seen_tick`, the tick of the page on which it was read, keeps later lessons out of the decision."""

    rationale: Rationale | None = None
    seen_tick: Tick | None = None


class RejectRequest(Request):
    """Why the contender is wrong: whoever claims the same again is pointed to this record."""

    rationale: Rationale
    seen_tick: Tick | None = None


class ReportRequest(Request):
    """What the decision should have said: of its pair with `lesson`, or of the text itself (harmful, harmless)."""

    should_be: Mistake
    lesson: LessonId | None = Field(default=None, description="Needed when the decision compared with several lessons.")
    note: Note | None = None


class AcceptReviewRequest(Request):
    """The row of a golden set that the case became."""

    golden: Annotated[Filled, Field(max_length=limits.GOLDEN_CHARACTERS, description="The row's id.")]


class RejectReviewRequest(Request):
    """Why the case teaches nothing; the body may be empty."""

    reason: Rationale | None = None


class Precedence(Request):
    """Lessons of one source outrank those of others."""

    how: HowName
    with_evidence: bool = Field(default=False, description="Only those that name evidence.")
    over: Annotated[list[HowName], Field(min_length=1, max_length=4)]


class PolicyRequest(Request):
    """A policy as a whole, in place of the version that was read."""

    version: Annotated[int, Field(ge=1, lt=2**31)]
    precedence: Annotated[list[Precedence], Field(max_length=limits.POLICY_RULES)]
    equals: EqualsName = "dispute"
    capacity: Annotated[int | None, Field(ge=1, le=limits.CAPACITY)] = Field(
        default=None, description="Believed lessons that the tribe keeps; null for all."
    )


class RetiredReply(Reply):
    lesson: LessonReply
    cause: RetireCause
    tick: int
    replayed: bool


class ErasedReply(Reply):
    """`erased` are the lesson and every other one of the very same words."""

    lesson: LessonReply
    erased: list[str]
    tick: int
    replayed: bool


class ResolvedReply(Reply):
    """How a dispute ended and what came of it. `lesson` is the contender, or the one that now stands for what it said."""

    resolved: str
    ending: Ending
    outcome: Outcome | None
    lesson: LessonReply
    replaced: list[str]
    retired: list[str]
    dispute: str | None = Field(description="A new dispute that it led to.")
    challenges: list[str]
    reason: str
    decision: str | None
    tick: int
    replayed: bool


class FirstVerdictReply(Reply):
    """What the cheap judge had said where the strong one was to be asked."""

    verdict: Verdict
    confidence: float
    judge: str
    cause: str | None


class VerdictReply(Reply):
    lesson: str
    verdict: Verdict
    confidence: float
    judge: str
    cause: str | None = Field(
        description="Why it is no answer, and will be asked for again: `judge_unavailable`, `judge_refused`, `judge_malformed`,"
        " `judge_timed_out`, `budget_spent`."
    )
    first: FirstVerdictReply | None = None


class DisputeReply(Reply):
    """Both sides as they stand now. The contender of a conflict is not believed; of a challenge both are."""

    id: str
    kind: DisputeKind
    contender: LessonReply
    about: list[LessonReply]
    opened: InstantReply
    closed: InstantReply | None
    ending: Ending | None
    closed_by: str | None
    rationale: str | None
    decision: str
    precedent: str | None = Field(description="The lesson that a curator rejected when the same was said before.")
    verdicts: list[VerdictReply]


class DisputesReply(Reply):
    disputes: list[DisputeReply]
    next: str | None
    receipt: ReceiptReply


class HeldReply(Reply):
    """A quarantined lesson: text that nobody should follow before a curator released it."""

    lesson: LessonReply
    decision: str
    screen: str
    reasons: list[str]


class QuarantineReply(Reply):
    held: list[HeldReply]
    next: str | None
    receipt: ReceiptReply


class CandidateReply(Reply):
    lesson: str
    status: str
    similarity: float | None


class DraftReply(Reply):
    """What was said, where no lesson of its own holds it."""

    text: str
    situation: str
    subject: str | None


class DecisionReply(Reply):
    """One learn as it was decided."""

    id: str
    tick: int
    at: datetime
    writer: str
    actor: str
    lesson: str
    draft: DraftReply | None
    text: str | None = Field(default=None, description="What was said, with or without a lesson of its own; null once erased.")
    judged_tick: int
    replans: int
    candidates: list[CandidateReply]
    verdicts: list[VerdictReply]
    screen: str
    screening: list[str]
    outcome: Outcome
    reason: str
    receipts: list[CitedReceiptReply] = Field(default_factory=list, description="Receipts that the writer cited.")


class DecisionDetailReply(Reply):
    """A decision with the lessons that it was about. Their words are those of then, all else is as it stands now."""

    decision: DecisionReply
    lesson: LessonReply = Field(description="The lesson that came of it, or that said the same already.")
    candidates: list[LessonReply] = Field(description="In the order of the decision's.")


class DecisionsReply(Reply):
    decisions: list[DecisionReply]
    next: str | None
    receipt: ReceiptReply


class ReviewReply(Reply):
    """A case that a golden set might learn from."""

    id: str
    signal: Signal
    suite: Literal["judge", "screen"]
    fingerprint: str = Field(default="", description="SHA-256 over suite and inputs; the same for the same case.")
    inputs: dict[str, object]
    found: str
    expected: str
    note: str | None
    lessons: list[str]
    decision: str
    state: ReviewState
    golden: str | None = Field(default=None, description="The row of a golden set that an accepted case became.")
    reason: str | None = Field(default=None, description="Why a rejected case teaches nothing.")
    by: str
    tick: int
    at: datetime


class ReviewsReply(Reply):
    reviews: list[ReviewReply]
    next: str | None
    receipt: ReceiptReply


class ReportedReply(Reply):
    """`queued` is false when the same case was in the queue already."""

    review: str
    decision: str
    queued: bool
    tick: int
    replayed: bool


class ReviewClosedReply(Reply):
    review: str
    state: ReviewState


class PrecedenceReply(Reply):
    how: HowName
    with_evidence: bool
    over: list[HowName]


class PolicyReply(Reply):
    version: int
    precedence: list[PrecedenceReply]
    equals: EqualsName
    capacity: int | None


class AuditEntryReply(Reply):
    id: str
    at: datetime
    agent: str | None
    action: str
    code: str
    detail: str


class AuditReply(Reply):
    entries: list[AuditEntryReply]
    next: str | None
    receipt: ReceiptReply
