"""Requests and replies of the HTTP API. Field names and shapes here are the product's promise to its users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from tributary.contract import limits
from tributary.contract.values import (
    LessonId,
    Moment,
    Name,
    Note,
    Query,
    Rationale,
    Ref,
    Situation,
    Subject,
    TagKey,
    Tags,
    Text,
    Tick,
    Unit,
)

Kind = Literal["gotcha", "entity_fact", "observation", "runbook_fact", "resolution", "rejected_hypothesis"]
Status = Literal["active", "pending", "disputed", "quarantined", "superseded", "retired", "evicted", "erased"]
How = Literal["observed", "derived", "told", "imported"]
Outcome = Literal["learned", "reinforced", "unchanged", "superseded", "disputed", "quarantined", "pending"]
CoverageValue = Literal["complete", "approximate", "partial", "unknown"]


class Request(BaseModel):
    """What a caller sends: unknown fields and lax types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Reply(BaseModel):
    """What the API sends. Clients ignore fields that they do not know, so that they outlive the server's version."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


Deadline = Annotated[
    float,
    Field(
        gt=0,
        le=limits.TIMEOUT_S,
        allow_inf_nan=False,
        description="Seconds after which it is kept as pending; or as quarantined, when no model could screen it by then.",
    ),
]


class Source(Request):
    """How the writer came to know, and where that can be looked up."""

    how: How
    ref: Ref | None = None


class Evidence(Request):
    """Something that supports the lesson: a log, a run, a page."""

    type: TagKey
    ref: Ref
    note: Note | None = None


class LessonRequest(Request):
    """One lesson, as one of a batch."""

    text: Text
    situation: Situation
    source: Source
    kind: Kind = "gotcha"
    subject: Subject | None = None
    tags: Tags = Field(default_factory=dict)
    evidence: Annotated[list[Evidence], Field(max_length=limits.EVIDENCE_ITEMS)] = Field(default_factory=list)
    rationale: Rationale | None = None
    confidence: Unit = 0.7
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    keep_until: Moment | None = None
    receipts: Annotated[
        list[dict[str, Any]],
        Field(
            max_length=limits.RECEIPTS,
            description="Receipts of recalls that led to it, unchanged. Their ids and ticks are kept with the decision.",
        ),
    ] = Field(default_factory=list)
    replaces: Annotated[
        list[LessonId],
        Field(
            max_length=limits.REPLACES,
            description="Believed lessons that this one replaces, whatever a judge says: the writer's own, or any for a curator.",
        ),
    ] = Field(default_factory=list)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.valid_from and self.valid_until and self.valid_from >= self.valid_until:
            raise PydanticCustomError("reversed", "valid_until must be later than valid_from")
        return self


class LearnRequest(LessonRequest):
    """One lesson to learn."""

    deadline_s: Deadline | None = None
    wait: bool = Field(default=True, description="False: keep it as pending at once, to be judged soon.")


class BatchRequest(Request):
    """Lessons to learn in their order, each for itself: a bad one does not sink the others."""

    lessons: Annotated[
        list[Any],
        Field(
            min_length=1,
            max_length=limits.BATCH_LESSONS,
            description="Each is looked at for itself, so that a malformed one does not sink the others.",
            json_schema_extra={"items": {"$ref": "#/components/schemas/LessonRequest"}},
        ),
    ]
    deadline_s: Deadline | None = None
    wait: bool = Field(default=True, description="False: keep all of them as pending at once, to be judged soon.")


class ContestRequest(Request):
    """What speaks against a believed lesson: what holds instead, or why it does not hold. What is left out is taken from it."""

    text: Text
    source: Source
    situation: Situation | None = None
    evidence: Annotated[list[Evidence], Field(max_length=limits.EVIDENCE_ITEMS)] = Field(default_factory=list)
    rationale: Rationale | None = None
    confidence: Unit = 0.7
    deadline_s: Deadline | None = None


class ReinforceRequest(Request):
    """A confirmation that the lesson held; the body may be empty."""

    receipt: Annotated[
        dict[str, Any] | None, Field(description="The receipt of the recall that served the lesson, unchanged.")
    ] = None


class RecallRequest(Request):
    """A question to the tribe's memory."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=limits.RECALL_LIMIT)] = 5
    kinds: Annotated[list[Kind], Field(max_length=6, description="Only lessons of these kinds.")] = Field(default_factory=list)
    sources: Annotated[list[How], Field(max_length=4, description="Only what was come to know in these ways.")] = Field(
        default_factory=list
    )
    agent: Annotated[Name | None, Field(description="Only what the agent of this name taught.")] = None
    subject: Annotated[Subject | None, Field(description="Only what is about this.")] = None
    tags: Annotated[Tags, Field(description="Only what has all of these tags, exactly.")] = Field(default_factory=dict)
    min_confidence: Unit = 0.0
    as_of: Annotated[
        Tick | Moment | None, Field(description="A tick of this tribe, or an RFC 3339 time with offset; null for now.")
    ] = None
    at_least: Annotated[Tick | None, Field(description="Read-your-writes: the tick of an earlier reply.")] = None
    include_stale: bool = False
    require: Literal["any", "vector"] = "any"


class VerifyRequest(Request):
    """A receipt to check, as the reply that it came with had it, and the query that it answered."""

    receipt: Annotated[dict[str, Any], Field(description="The receipt of a recall, unchanged.")]
    query: Query


class FieldProblem(Reply):
    field: str
    rule: str


class Problem(Reply):
    """An error, as problem+json (RFC 9457) with a stable `code`."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldProblem] = Field(default_factory=list)
    operation: str | None = Field(default=None, description="Find the log lines of this request by it.")


class InstantReply(Reply):
    """A moment of the tribe's clock."""

    tick: int
    at: datetime


class SourceReply(Reply):
    how: How
    ref: str | None


class EvidenceReply(Reply):
    type: str
    ref: str
    note: str | None


class LessonReply(Reply):
    """A lesson as it stands at the tick that was asked for."""

    id: str
    text: str
    situation: str
    subject: str | None
    kind: Kind
    status: Status
    tags: dict[str, str]
    source: SourceReply
    evidence: list[EvidenceReply]
    rationale: str | None
    author: str
    confidence: float = Field(description="As shown now: the writer's, moved by confirmations, contradictions and age.")
    stated_confidence: float = Field(description="As the writer stated it.")
    confirmations: int
    contradictions: int
    valid_from: datetime | None
    valid_until: datetime | None
    keep_until: datetime | None
    learned: InstantReply
    activated: InstantReply | None
    deactivated: InstantReply | None
    superseded_by: str | None


class LearnReply(Reply):
    """What became of the lesson."""

    outcome: Outcome
    lesson: LessonReply | None
    replaced: list[str]
    dispute: str | None
    challenges: list[str]
    reason: str
    decision: str
    tick: int
    replayed: bool
    precedent: str | None = Field(
        default=None, description="The lesson that a curator rejected when the same was said before: why this one is disputed."
    )


class BatchItemReply(Reply):
    """What became of one lesson of a batch: `result` as of `POST /v1/lessons`, or the `problem` that it met."""

    status: int
    result: LearnReply | None
    problem: Problem | None


class BatchReply(Reply):
    """One item a lesson, in their order."""

    items: list[BatchItemReply]


class ReinforceReply(Reply):
    """`unchanged` when this agent counted for the lesson already."""

    outcome: Outcome
    lesson: LessonReply
    reason: str
    tick: int
    replayed: bool


class ChallengeReply(Reply):
    """What speaks against a lesson: an open dispute or a possible conflict."""

    id: str
    lesson: str
    text: str


class HitReply(Reply):
    lesson: LessonReply
    score: float
    terms: dict[str, float]
    confidence: float
    label: str | None = Field(description="How to read a hit that is no plain advice, such as 'tried, did not help'.")
    challenges: list[ChallengeReply]


class SearchedReply(Reply):
    tribe: str
    tick: int
    at: datetime
    settled: bool


class ExclusionReply(Reply):
    rule: str
    count: int


class ReceiptHitReply(Reply):
    id: str
    score: float
    similarity: float | None
    terms: dict[str, float]


class ReceiptReply(Reply):
    """What the search looked at, what it left out and why, and what may be claimed from it."""

    id: str
    searched: list[SearchedReply]
    query_digest: str | None
    filters: dict[str, object]
    paths: list[str]
    space: str | None
    floor: float | None
    considered: int
    returned: int
    excluded: list[ExclusionReply]
    hits: list[ReceiptHitReply]
    coverage: CoverageValue
    causes: list[str]
    may_assert_absence: bool
    ranking: str
    ms: dict[str, float]
    key: str
    signature: str


class CitedReceiptReply(Reply):
    """What is kept of a receipt that a writer cited. `hits` are ids, best first."""

    id: str
    tick: int
    coverage: CoverageValue
    query_digest: str | None
    hits: list[str]


class RecallReply(Reply):
    hits: list[HitReply]
    receipt: ReceiptReply


class DifferenceReply(Reply):
    """In what a receipt differs from what is found. `lesson` is null where it is about the whole of it."""

    aspect: Literal["signature", "query", "belief", "filter", "rule", "similarity", "score", "order", "missed"]
    lesson: str | None
    said: str | float | None
    found: str | float | None


class VerifyReply(Reply):
    """Whether a receipt says what the tribe believed at its tick."""

    verdict: Literal["agrees", "diverges", "unknown"]
    causes: list[str] = Field(description="Why it cannot be told, or not wholly.")
    differences: list[DifferenceReply]
    erased: list[str] = Field(description="Hits that were erased since: nobody can say any more what they said.")
    missed: list[str] = Field(description="Better lessons that a search which did not call itself complete passed over.")


class LessonsReply(Reply):
    """A page of lessons, newest first."""

    lessons: list[LessonReply]
    next: str | None = Field(description="Value of `before` for the next page; null at the end.")
    receipt: ReceiptReply


class LessonDetailReply(Reply):
    lesson: LessonReply
    challenges: list[ChallengeReply]
    receipt: ReceiptReply


class HealthReply(Reply):
    status: Literal["ok"]
    version: str
