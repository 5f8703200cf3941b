"""From the JSON documents of the schema's functions to the words of core."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from tributary.core.agent import Role
from tributary.core.decision import Challenge
from tributary.core.errors import Forbidden, NotFound
from tributary.core.lesson import Evidence, How, Instant, Kind, Lesson, Source, Status
from tributary.core.outcome import Candidate

Document = Mapping[str, Any]


def document(value: object) -> Document:
    """Returns a function's result as a document; raises NotFound when there is none."""
    if value is None:
        raise NotFound
    return cast(Document, value)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def role(text: str | None) -> Role:
    """Returns the stored role of an agent; raises Forbidden when there is none such, or it was revoked."""
    if text is None:
        raise Forbidden("the agent was revoked")
    return Role(text)


def uuid_or_none(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def lesson(row: Document) -> Lesson:
    return Lesson(
        lesson_id=UUID(row["lesson_id"]),
        agent_id=UUID(row["agent_id"]),
        agent_name=row["agent_name"],
        kind=Kind(row["kind"]),
        status=Status(row["status"]),
        text=row["text"] or "",
        situation=row["situation"] or "",
        subject=row["subject"],
        tags=row["tags"],
        source=Source(how=How(row["source_how"]), ref=row["source_ref"]),
        evidence=tuple(Evidence(type=one["type"], ref=one["ref"], note=one.get("note")) for one in row["evidence"]),
        rationale=row["rationale"],
        confidence=float(row["confidence"]),
        valid_from=moment_or_none(row["valid_from"]),
        valid_until=moment_or_none(row["valid_until"]),
        keep_until=moment_or_none(row["keep_until"]),
        learned=_instant(row["learned"]),
        activated=None if row["activated"] is None else _instant(row["activated"]),
        deactivated=None if row["deactivated"] is None else _instant(row["deactivated"]),
        superseded_by=uuid_or_none(row["superseded_by"]),
        content_hash=bytes.fromhex(row["content_hash"]),
        confirmations=row["confirmations"],
        contradictions=row["contradictions"],
        last_confirmed_at=moment(row["last_confirmed_at"]),
    )


def candidate(row: Document) -> Candidate:
    return Candidate(
        lesson=lesson(row["lesson"]),
        similarity=similarity(row["cosine_distance"]),
        confirmed_by_writer=row["confirmed_by_writer"],
        dispute_id=uuid_or_none(row["dispute_id"]),
    )


def similarity(cosine_distance: float | None) -> float | None:
    """Returns 1 - cosine distance, in -1..1."""
    return None if cosine_distance is None else 1.0 - cosine_distance


def challenges(rows: list[Document]) -> tuple[Challenge, ...]:
    return tuple(
        Challenge(dispute_id=UUID(one["dispute_id"]), lesson_id=UUID(one["lesson_id"]), text=one["text"] or "") for one in rows
    )


def _instant(row: Document) -> Instant:
    return Instant(tick=row["tick"], at=moment(row["at"]))
