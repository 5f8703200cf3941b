"""Words of core to test with: a sound draft, lesson, agent, verdict and receipt, each with what the test wants otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.decision import Verdict, VerdictKind
from tributary.core.lesson import Draft, How, Instant, Kind, Lesson, Source, Status
from tributary.core.outcome import Candidate, Judged
from tributary.core.receipt import Coverage, Receipt, Searched, SearchPath

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TRIBE, AUTHOR, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)

_DRAFT = Draft(text="needs X-Batch", situation="deploying", source=Source(how=How.OBSERVED))
_LESSON = Lesson(
    lesson_id=UUID(int=100),
    agent_id=AUTHOR,
    agent_name="author",
    kind=Kind.GOTCHA,
    status=Status.ACTIVE,
    text="needs X-Batch",
    situation="deploying",
    subject=None,
    tags={},
    source=Source(how=How.OBSERVED),
    evidence=(),
    rationale=None,
    confidence=0.7,
    valid_from=None,
    valid_until=None,
    keep_until=None,
    learned=Instant(tick=1, at=NOON),
    activated=Instant(tick=1, at=NOON),
    deactivated=None,
    superseded_by=None,
    content_hash=b"\x00" * 32,
    confirmations=0,
    contradictions=0,
    last_confirmed_at=NOON,
)
_RECEIPT = Receipt(
    receipt_id=UUID(int=7),
    searched=(Searched(tribe=TRIBE, tick=4, at=NOON, settled=True),),
    query_digest="ab" * 32,
    filters={"limit": 5},
    paths=(SearchPath.VECTOR_EXACT, SearchPath.TERMS),
    space="hash/8",
    floor=0.2,
    considered=3,
    excluded=(),
    hits=(),
    coverage=Coverage.COMPLETE,
    causes=(),
    ranking="v2",
    ms={"database": 1.5},
)


def draft(**fields: object) -> Draft:
    return replace(_DRAFT, **fields)  # type: ignore[arg-type]  # the test's own keywords


def lesson(number: int = 100, **fields: object) -> Lesson:
    return replace(_LESSON, lesson_id=UUID(int=number), **fields)  # type: ignore[arg-type]  # as above


def receipt(**fields: object) -> Receipt:
    return replace(_RECEIPT, **fields)  # type: ignore[arg-type]  # as above


def agent(role: Role = Role.WRITER, agent_id: UUID = OTHER) -> Principal:
    return Principal(tribe_id=TRIBE, agent_id=agent_id, name="agent", role=role)


def judged(
    kind: VerdictKind,
    old: Lesson,
    *,
    confidence: float = 0.9,
    similarity: float | None = 0.5,
    confirmed_by_writer: bool = False,
    dispute_id: UUID | None = None,
) -> Judged:
    verdict = Verdict(lesson_id=old.lesson_id, kind=kind, confidence=confidence, judge="made/1", reason="made")
    candidate = Candidate(lesson=old, similarity=similarity, confirmed_by_writer=confirmed_by_writer, dispute_id=dispute_id)
    return Judged(candidate=candidate, verdict=verdict)
