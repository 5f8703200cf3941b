"""From the documents of the schema's curation functions to the words of core."""

from __future__ import annotations

from uuid import UUID

from tributary.core.curation import (
    AuditEntry,
    DecisionDetail,
    DecisionRecord,
    Dispute,
    DisputeKind,
    Ending,
    Erased,
    Held,
    Reported,
    RetireCause,
    Retired,
    Review,
    ReviewState,
    Signal,
)
from tributary.core.decision import Outcome
from tributary.core.lesson import Instant
from tributary.store import rows


def dispute(row: rows.Document) -> Dispute:
    closed = row["closed_tick"]
    return Dispute(
        dispute_id=UUID(row["dispute_id"]),
        kind=DisputeKind(row["kind"]),
        contender=rows.lesson(row["contender"]),
        about=tuple(rows.lesson(one) for one in row["about"]),
        opened=Instant(tick=row["opened_tick"], at=rows.moment(row["opened_at"])),
        closed=None if closed is None else Instant(tick=closed, at=rows.moment(row["closed_at"])),
        ending=None if row["ending"] is None else Ending(row["ending"]),
        closed_by=row["closed_by"],
        rationale=row["rationale"],
        decision_id=UUID(row["decision_id"]),
        precedent=rows.uuid_or_none(row["precedent"]),
        verdicts=tuple(row["verdicts"] or ()),
    )


def held(row: rows.Document) -> Held:
    return Held(
        lesson=rows.lesson(row["lesson"]),
        decision_id=UUID(row["decision_id"]),
        screen=row["screen"],
        reasons=tuple(row["reasons"]),
    )


def decision(row: rows.Document) -> DecisionRecord:
    return DecisionRecord(
        decision_id=UUID(row["decision_id"]),
        tick=row["tick"],
        at=rows.moment(row["at"]),
        writer=row["writer"],
        actor=row["actor"],
        lesson_id=UUID(row["lesson_id"]),
        draft=row["draft"],
        text=row["text"],
        judged_tick=row["judged_tick"],
        replans=row["replans"],
        candidates=tuple(row["candidates"]),
        verdicts=tuple(row["verdicts"]),
        screen=row["screening"]["screen"],
        screening=tuple(row["screening"]["reasons"]),
        outcome=Outcome(row["outcome"]),
        reason=row["reason"],
        receipts=tuple(map(rows.citation, row["receipts"])),
    )


def decision_detail(row: rows.Document) -> DecisionDetail:
    found = decision(row["decision"])
    place = {str(one["lesson_id"]): number for number, one in enumerate(found.candidates)}
    candidates = sorted(row["candidates"], key=lambda one: place[one["lesson_id"]])
    return DecisionDetail(
        decision=found, lesson=rows.lesson(row["lesson"]), candidates=tuple(rows.lesson(one) for one in candidates)
    )


def review(row: rows.Document) -> Review:
    return Review(
        review_id=UUID(row["review_id"]),
        signal=Signal(row["signal"]),
        suite=row["suite"],
        fingerprint=row["fingerprint"],
        inputs=row["inputs"],
        found=row["found"],
        expected=row["expected"],
        note=row["note"],
        lesson_ids=tuple(map(UUID, row["lesson_ids"])),
        decision_id=UUID(row["decision_id"]),
        state=ReviewState(row["state"]),
        golden=row["golden"],
        reason=row["reason"],
        by=row["by"],
        tick=row["tick"],
        at=rows.moment(row["at"]),
    )


def audit_entry(row: rows.Document) -> AuditEntry:
    return AuditEntry(
        audit_id=UUID(row["audit_id"]),
        at=rows.moment(row["at"]),
        agent=row["agent"],
        action=row["action"],
        code=row["code"],
        detail=row["detail"],
    )


def retired(document: rows.Document) -> Retired:
    reply = document["reply"]
    return Retired(
        lesson=rows.lesson(document["lesson"]),
        cause=RetireCause(reply["cause"]),
        tick=reply["tick"],
        replayed=document["replayed"],
        pended=document.get("pended", False),
    )


def erased(document: rows.Document) -> Erased:
    reply = document["reply"]
    return Erased(
        lesson=rows.lesson(document["lesson"]),
        erased=tuple(map(UUID, reply["erased"])),
        tick=reply["tick"],
        replayed=document["replayed"],
        pended=document.get("pended", False),
    )


def reported(document: rows.Document) -> Reported:
    reply = document["reply"]
    return Reported(
        review_id=UUID(reply["review_id"]),
        decision_id=UUID(reply["decision_id"]),
        queued=reply["queued"],
        tick=reply["tick"],
        replayed=document["replayed"],
    )
