"""A lesson and what it is made of: kind, status, source, intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Kind(StrEnum):
    """What sort of belief it is; sets the half-life and how recall shows it."""

    GOTCHA = "gotcha"
    ENTITY_FACT = "entity_fact"
    OBSERVATION = "observation"
    RUNBOOK_FACT = "runbook_fact"
    RESOLUTION = "resolution"
    REJECTED_HYPOTHESIS = "rejected_hypothesis"


class Status(StrEnum):
    """Where a lesson stands; only active ones are believed."""

    ACTIVE = "active"
    PENDING = "pending"
    DISPUTED = "disputed"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    EVICTED = "evicted"
    ERASED = "erased"


class How(StrEnum):
    """How the writer came to know, highest rank first."""

    OBSERVED = "observed"
    DERIVED = "derived"
    TOLD = "told"
    IMPORTED = "imported"


@dataclass(frozen=True, kw_only=True)
class Source:
    how: How
    ref: str | None = None
    """Run id, URL, or file#heading:line."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    type: str
    ref: str
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Instant:
    """A moment of the tribe's logical clock and the wall-clock time at which it was reached."""

    tick: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A lesson as its writer hands it in. `confidence` is the writer's own, in 0..1."""

    text: str
    situation: str
    source: Source
    kind: Kind = Kind.GOTCHA
    subject: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None
    confidence: float = 0.7
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    keep_until: datetime | None = None
    receipts: tuple[Mapping[str, object], ...] = ()
    """Documents of the recalls that led to it, as they were signed. Kept with the decision, not with the lesson."""
    replaces: tuple[UUID, ...] = ()
    """Believed lessons whose place it is to take, whatever a judge says of the pairs. Kept as the verdicts of the decision."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A stored belief. Its text never changes; its standing does, and each change is an event with its tick.

    `activated` and `deactivated` bound the belief interval [activated, deactivated). `confirmations` counts distinct agents
    other than the author who found it true, `contradictions` the open disputes against it, both as of the tick asked for.
    """

    lesson_id: UUID
    agent_id: UUID
    agent_name: str
    kind: Kind
    status: Status
    text: str
    situation: str
    subject: str | None
    tags: Mapping[str, str]
    source: Source
    evidence: tuple[Evidence, ...]
    rationale: str | None
    confidence: float
    valid_from: datetime | None
    valid_until: datetime | None
    keep_until: datetime | None
    learned: Instant
    activated: Instant | None
    deactivated: Instant | None
    superseded_by: UUID | None
    content_hash: bytes
    confirmations: int
    contradictions: int
    last_confirmed_at: datetime

    @property
    def believed(self) -> bool:
        return self.status is Status.ACTIVE


@dataclass(frozen=True, kw_only=True)
class CounterClaim:
    """What an agent says against a lesson: what holds instead, or why it does not hold."""

    text: str
    source: Source
    situation: str | None = None
    """None: that of the lesson."""
    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None
    confidence: float = 0.7

    def against(self, lesson: Lesson) -> Draft:
        """Returns the claim as a lesson of its own, of the same kind and about the same subject and situation."""
        return Draft(
            text=self.text,
            situation=self.situation or lesson.situation,
            source=self.source,
            kind=lesson.kind,
            subject=lesson.subject,
            tags=lesson.tags,
            evidence=self.evidence,
            rationale=self.rationale,
            confidence=self.confidence,
        )
