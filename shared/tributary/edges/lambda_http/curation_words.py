"""Between the contract's models of curation and the core's types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from tributary.contract import curation
from tributary.core import ids
from tributary.core.curation import (
    AuditEntry,
    DecisionDetail,
    DecisionRecord,
    Dispute,
    Erased,
    Held,
    Reported,
    Resolved,
    Retired,
    Review,
)
from tributary.core.lesson import How
from tributary.core.policy import Equals, Policy, Precedence
from tributary.core.requests import Page
from tributary.edges.lambda_http.history_words import citations
from tributary.edges.lambda_http.translate import instant, lesson_at, lesson_ids, receipt


def policy(request: curation.PolicyRequest) -> Policy:
    return Policy(
        version=request.version,
        precedence=tuple(
            Precedence(how=How(one.how), with_evidence=one.with_evidence, over=frozenset(How(how) for how in one.over))
            for one in request.precedence
        ),
        equals=Equals(request.equals),
        capacity=request.capacity,
    )


def policy_reply(found: Policy) -> curation.PolicyReply:
    return curation.PolicyReply.model_validate({"version": found.version, **found.document()})


def retired(reply: Retired, *, now: datetime) -> curation.RetiredReply:
    return curation.RetiredReply(
        lesson=lesson_at(reply.lesson, now), cause=reply.cause.value, tick=reply.tick, replayed=reply.replayed
    )


def erased(reply: Erased, *, now: datetime) -> curation.ErasedReply:
    return curation.ErasedReply(
        lesson=lesson_at(reply.lesson, now), erased=lesson_ids(reply.erased), tick=reply.tick, replayed=reply.replayed
    )


def resolved(reply: Resolved, *, now: datetime) -> curation.ResolvedReply:
    return curation.ResolvedReply(
        resolved=ids.show(ids.Prefix.DISPUTE, reply.resolved),
        ending=reply.ending.value,
        outcome=None if reply.outcome is None else reply.outcome.value,
        lesson=lesson_at(reply.lesson, now),
        replaced=lesson_ids(reply.replaced),
        retired=lesson_ids(reply.retired),
        dispute=_shown(ids.Prefix.DISPUTE, reply.dispute_id),
        challenges=[ids.show(ids.Prefix.DISPUTE, one) for one in reply.challenges],
        reason=reply.reason,
        decision=_shown(ids.Prefix.DECISION, reply.decision_id),
        tick=reply.tick,
        replayed=reply.replayed,
    )


def reported(reply: Reported) -> curation.ReportedReply:
    return curation.ReportedReply(
        review=ids.show(ids.Prefix.REVIEW, reply.review_id),
        decision=ids.show(ids.Prefix.DECISION, reply.decision_id),
        queued=reply.queued,
        tick=reply.tick,
        replayed=reply.replayed,
    )


def dispute(one: Dispute, *, now: datetime) -> curation.DisputeReply:
    return curation.DisputeReply(
        id=ids.show(ids.Prefix.DISPUTE, one.dispute_id),
        kind=one.kind.value,
        contender=lesson_at(one.contender, now),
        about=[lesson_at(lesson, now) for lesson in one.about],
        opened=instant(one.opened),
        closed=None if one.closed is None else instant(one.closed),
        ending=None if one.ending is None else one.ending.value,
        closed_by=one.closed_by,
        rationale=one.rationale,
        decision=ids.show(ids.Prefix.DECISION, one.decision_id),
        precedent=_shown(ids.Prefix.LESSON, one.precedent),
        verdicts=_verdicts(one.verdicts),
    )


def disputes(page: Page[Dispute], *, now: datetime) -> curation.DisputesReply:
    return curation.DisputesReply(
        disputes=[dispute(one, now=now) for one in page.items], next=page.next_before, receipt=receipt(page.receipt)
    )


def quarantine(page: Page[Held], *, now: datetime) -> curation.QuarantineReply:
    return curation.QuarantineReply(
        held=[
            curation.HeldReply(
                lesson=lesson_at(one.lesson, now),
                decision=ids.show(ids.Prefix.DECISION, one.decision_id),
                screen=one.screen,
                reasons=list(one.reasons),
            )
            for one in page.items
        ],
        next=page.next_before,
        receipt=receipt(page.receipt),
    )


def decisions(page: Page[DecisionRecord]) -> curation.DecisionsReply:
    return curation.DecisionsReply(
        decisions=[_decision(one) for one in page.items], next=page.next_before, receipt=receipt(page.receipt)
    )


def decision_detail(found: DecisionDetail, *, now: datetime) -> curation.DecisionDetailReply:
    return curation.DecisionDetailReply(
        decision=_decision(found.decision),
        lesson=lesson_at(found.lesson, now),
        candidates=[lesson_at(one, now) for one in found.candidates],
    )


def reviews(page: Page[Review]) -> curation.ReviewsReply:
    return curation.ReviewsReply(
        reviews=[_review(one) for one in page.items], next=page.next_before, receipt=receipt(page.receipt)
    )


def audit(page: Page[AuditEntry]) -> curation.AuditReply:
    return curation.AuditReply(
        entries=[
            curation.AuditEntryReply(
                id=ids.show(ids.Prefix.AUDIT, one.audit_id),
                at=one.at,
                agent=one.agent,
                action=one.action,
                code=one.code,
                detail=one.detail,
            )
            for one in page.items
        ],
        next=page.next_before,
        receipt=receipt(page.receipt),
    )


def _decision(one: DecisionRecord) -> curation.DecisionReply:
    return curation.DecisionReply(
        id=ids.show(ids.Prefix.DECISION, one.decision_id),
        tick=one.tick,
        at=one.at,
        writer=one.writer,
        actor=one.actor,
        lesson=ids.show(ids.Prefix.LESSON, one.lesson_id),
        draft=None if one.draft is None else curation.DraftReply.model_validate(one.draft),
        text=one.text,
        judged_tick=one.judged_tick,
        replans=one.replans,
        candidates=[
            curation.CandidateReply(lesson=_lesson_id(given), status=given["status"], similarity=given["similarity"])
            for given in cast("tuple[Mapping[str, Any], ...]", one.candidates)
        ],
        verdicts=_verdicts(one.verdicts),
        screen=one.screen,
        screening=list(one.screening),
        outcome=one.outcome.value,
        reason=one.reason,
        receipts=citations(one.receipts),
    )


def _review(one: Review) -> curation.ReviewReply:
    return curation.ReviewReply.model_validate(
        {
            "id": ids.show(ids.Prefix.REVIEW, one.review_id),
            "signal": one.signal.value,
            "suite": one.suite,
            "fingerprint": one.fingerprint,
            "inputs": dict(one.inputs),
            "found": one.found,
            "expected": one.expected,
            "note": one.note,
            "lessons": lesson_ids(one.lesson_ids),
            "decision": ids.show(ids.Prefix.DECISION, one.decision_id),
            "state": one.state.value,
            "golden": one.golden,
            "reason": one.reason,
            "by": one.by,
            "tick": one.tick,
            "at": one.at,
        }
    )


def _verdicts(found: Iterable[Mapping[str, object]]) -> list[curation.VerdictReply]:
    return [curation.VerdictReply.model_validate({**one, "lesson": _lesson_id(one), "lesson_id": None}) for one in found]


def _lesson_id(given: Mapping[str, object]) -> str:
    return ids.show(ids.Prefix.LESSON, UUID(str(given["lesson_id"])))


def _shown(prefix: ids.Prefix, value: UUID | None) -> str | None:
    return None if value is None else ids.show(prefix, value)
