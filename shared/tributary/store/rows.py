"""From what the schema's functions give, rows or JSON documents, to the words of core."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from tributary.core.agent import Role
from tributary.core.curation import Rejection
from tributary.core.decision import Challenge
from tributary.core.errors import Forbidden, NotFound
from tributary.core.evaluation import Better, Evaluation, EvaluationRun
from tributary.core.history import Citation
from tributary.core.ids import Prefix, parse
from tributary.core.lesson import Evidence, How, Instant, Kind, Lesson, Source, Status
from tributary.core.outcome import Candidate
from tributary.core.receipt import Coverage

Document = Mapping[str, Any]


def document(value: object) -> Document:
    """Returns a function's result as a document; raises NotFound when there is none."""
    if value is None:
        raise NotFound
    return cast(Document, value)


def moment(value: str | datetime) -> datetime:
    """Returns an instant in UTC from a column's value or a document's text."""
    return (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)


def moment_or_none(value: str | datetime | None) -> datetime | None:
    return None if value is None else moment(value)


def role(text: str | None) -> Role:
    """Returns the stored role of an agent; raises Forbidden when there is none such, or it was revoked."""
    if text is None:
        raise Forbidden("the agent was revoked")
    return Role(text)


def uuid(value: str | UUID) -> UUID:
    return UUID(value) if isinstance(value, str) else value


def uuid_or_none(value: str | UUID | None) -> UUID | None:
    return None if value is None else uuid(value)


def lesson(row: Document) -> Lesson:
    """Returns a lesson from a `lesson_row`: as a row by column name, or as its JSON."""
    return Lesson(
        lesson_id=uuid(row["lesson_id"]),
        agent_id=uuid(row["agent_id"]),
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
        learned=Instant(tick=row["learned_tick"], at=moment(row["learned_at"])),
        activated=instant_or_none(row["activated_tick"], row["activated_at"]),
        deactivated=instant_or_none(row["deactivated_tick"], row["deactivated_at"]),
        superseded_by=uuid_or_none(row["superseded_by"]),
        content_hash=_bytes(row["content_hash"]),
        confirmations=row["confirmations"],
        contradictions=row["contradictions"],
        last_confirmed_at=moment(row["last_confirmed_at"]),
    )


def citation(row: Document) -> Citation:
    """Returns a receipt that a decision's writer cited, as `Citation.document` wrote it."""
    return Citation(
        receipt_id=parse(Prefix.RECEIPT, row["id"], field="receipt.id"),
        tick=row["tick"],
        coverage=Coverage(row["coverage"]),
        query_digest=row["query_digest"],
        hits=tuple(row["hits"]),
    )


def candidate(row: Document) -> Candidate:
    return Candidate(
        lesson=lesson(row["lesson"]),
        similarity=similarity(row["cosine_distance"]),
        confirmed_by_writer=row["confirmed_by_writer"],
        dispute_id=uuid_or_none(row["dispute_id"]),
        opponents=frozenset(map(uuid, row["opponents"])),
        rejected_as=None if row["rejected_as"] is None else Rejection(row["rejected_as"]),
    )


def evaluation_runs(value: object) -> tuple[EvaluationRun, ...]:
    """Returns runs of the evals from a function's result, in its order."""
    return tuple(
        EvaluationRun(
            run_id=uuid(run["run"]),
            at=moment(run["at"]),
            commit=run["commit"],
            tier=run["tier"],
            models=run["models"],
            found=tuple(_evaluation(one) for one in run["found"]),
        )
        for run in cast(list[Document], value)
    )


def _evaluation(one: Document) -> Evaluation:
    return Evaluation(**{**one, "better": None if one["better"] is None else Better(one["better"])})


def similarity(cosine_distance: float | None) -> float | None:
    """Returns 1 - cosine distance, in -1..1."""
    return None if cosine_distance is None else 1.0 - cosine_distance


def challenges(by_lesson: Document, lesson_id: UUID) -> tuple[Challenge, ...]:
    """Returns what is open against one lesson, from `challenges_v1`."""
    return tuple(
        Challenge(dispute_id=UUID(one["dispute_id"]), lesson_id=UUID(one["lesson_id"]), text=one["text"] or "")
        for one in by_lesson.get(str(lesson_id), ())
    )


def instant_or_none(tick: int | None, at: str | datetime | None) -> Instant | None:
    return None if tick is None or at is None else Instant(tick=tick, at=moment(at))


def _bytes(value: str | bytes) -> bytes:
    return bytes.fromhex(value.removeprefix("\\x")) if isinstance(value, str) else bytes(value)
