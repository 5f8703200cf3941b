"""Between the contract's models and the core's types, both ways. The one place that knows both."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from tributary.contract import distilling, models
from tributary.core import ids
from tributary.core.confidence import shown_confidence
from tributary.core.decision import Challenge, Learned, Reinforced
from tributary.core.lesson import CounterClaim, Draft, Evidence, How, Instant, Kind, Lesson, Source
from tributary.core.ranking import DIGITS
from tributary.core.receipt import Receipt
from tributary.core.requests import Hit, LessonDetail, Listing, Question, Recalled, Require
from tributary.core.transcript import Distilled, Transcript, Turn, TurnRole, turns_of
from tributary.core.verification import Verification


def draft(request: models.LessonRequest) -> Draft:
    return Draft(
        text=request.text,
        situation=request.situation,
        source=Source(how=How(request.source.how), ref=request.source.ref),
        kind=Kind(request.kind),
        subject=request.subject,
        tags=dict(request.tags),
        evidence=tuple(Evidence(type=one.type, ref=one.ref, note=one.note) for one in request.evidence),
        rationale=request.rationale,
        confidence=request.confidence,
        valid_from=request.valid_from,
        valid_until=request.valid_until,
        keep_until=request.keep_until,
        receipts=tuple(request.receipts),
        replaces=tuple(ids.parse(ids.Prefix.LESSON, one, field="replaces") for one in dict.fromkeys(request.replaces)),
    )


def counter_claim(request: models.ContestRequest) -> CounterClaim:
    return CounterClaim(
        text=request.text,
        source=Source(how=How(request.source.how), ref=request.source.ref),
        situation=request.situation,
        evidence=tuple(Evidence(type=one.type, ref=one.ref, note=one.note) for one in request.evidence),
        rationale=request.rationale,
        confidence=request.confidence,
    )


def transcript(request: distilling.DistillRequest) -> Transcript:
    given = request.transcript
    if isinstance(given, str):
        return Transcript(turns=turns_of(given), ref=request.ref)
    turns = tuple(Turn(role=TurnRole(one.role), text=one.text, at=one.at, ref=one.ref) for one in given)
    return Transcript(turns=turns, ref=request.ref)


def distilled(reply: Distilled) -> distilling.DistillReply:
    return distilling.DistillReply(
        lessons=[_proposed(one) for one in reply.lessons],
        dropped=[distilling.DroppedReply(why=why.value, count=count) for why, count in sorted(reply.dropped.items())],
        unread=[distilling.StretchReply(first=first, last=last) for first, last in reply.unread],
        model=reply.model,
    )


def _proposed(one: Draft) -> distilling.ProposedLessonReply:
    return distilling.ProposedLessonReply(
        text=one.text,
        situation=one.situation,
        source=models.SourceReply(how=one.source.how.value, ref=one.source.ref),
        kind=one.kind.value,
        subject=one.subject,
        tags=dict(one.tags),
        evidence=[models.EvidenceReply(type=item.type, ref=item.ref, note=item.note) for item in one.evidence],
        rationale=one.rationale,
        confidence=one.confidence,
    )


def question(request: models.RecallRequest) -> Question:
    return Question(
        query=request.query,
        limit=request.limit,
        kinds=tuple(Kind(kind) for kind in request.kinds),
        sources=tuple(How(how) for how in request.sources),
        agent=request.agent,
        subject=request.subject,
        tags=dict(request.tags),
        min_confidence=request.min_confidence,
        as_of=request.as_of,
        at_least=request.at_least,
        include_stale=request.include_stale,
        require=Require(request.require),
    )


def learned(reply: Learned, *, now: datetime) -> models.LearnReply:
    return models.LearnReply(
        outcome=reply.outcome.value,
        lesson=lesson_at(reply.lesson, now) if reply.lesson else None,
        replaced=lesson_ids(reply.replaced),
        dispute=ids.show(ids.Prefix.DISPUTE, reply.dispute_id) if reply.dispute_id else None,
        challenges=[ids.show(ids.Prefix.DISPUTE, one) for one in reply.challenges],
        reason=reply.reason,
        decision=ids.show(ids.Prefix.DECISION, reply.decision_id),
        tick=reply.tick,
        replayed=reply.replayed,
        precedent=ids.show(ids.Prefix.LESSON, reply.precedent) if reply.precedent else None,
    )


def reinforced(reply: Reinforced, *, now: datetime) -> models.ReinforceReply:
    return models.ReinforceReply(
        outcome=reply.outcome.value,
        lesson=lesson_at(reply.lesson, now),
        reason=reply.reason,
        tick=reply.tick,
        replayed=reply.replayed,
    )


def recalled(reply: Recalled) -> models.RecallReply:
    return models.RecallReply(hits=[_hit(hit) for hit in reply.hits], receipt=receipt(reply.receipt))


def listing(reply: Listing) -> models.LessonsReply:
    return models.LessonsReply(
        lessons=[lesson(one, confidence=shown) for one, shown in zip(reply.lessons, reply.confidences, strict=True)],
        next=reply.next_before,
        receipt=receipt(reply.receipt),
    )


def detail(reply: LessonDetail) -> models.LessonDetailReply:
    return models.LessonDetailReply(
        lesson=lesson(reply.lesson, confidence=reply.confidence),
        challenges=_challenges(reply.challenges),
        receipt=receipt(reply.receipt),
    )


def lesson(one: Lesson, *, confidence: float) -> models.LessonReply:
    """Returns the lesson as users see it; `confidence` is the one to show, for the moment that was asked about."""
    return models.LessonReply(
        id=ids.show(ids.Prefix.LESSON, one.lesson_id),
        text=one.text,
        situation=one.situation,
        subject=one.subject,
        kind=one.kind.value,
        status=one.status.value,
        tags=dict(one.tags),
        source=models.SourceReply(how=one.source.how.value, ref=one.source.ref),
        evidence=[models.EvidenceReply(type=item.type, ref=item.ref, note=item.note) for item in one.evidence],
        rationale=one.rationale,
        author=one.agent_name,
        confidence=confidence,
        stated_confidence=one.confidence,
        confirmations=one.confirmations,
        contradictions=one.contradictions,
        valid_from=one.valid_from,
        valid_until=one.valid_until,
        keep_until=one.keep_until,
        learned=instant(one.learned),
        activated=instant(one.activated) if one.activated else None,
        deactivated=instant(one.deactivated) if one.deactivated else None,
        superseded_by=ids.show(ids.Prefix.LESSON, one.superseded_by) if one.superseded_by else None,
    )


def receipt(one: Receipt) -> models.ReceiptReply:
    """Returns the signed document as it is, with its signature."""
    return models.ReceiptReply.model_validate({**one.document(), "signature": one.signature})


def verification(one: Verification) -> models.VerifyReply:
    return models.VerifyReply(
        verdict=one.verdict.value,
        causes=[cause.value for cause in one.causes],
        differences=[
            models.DifferenceReply(
                aspect=difference.aspect.value,
                lesson=ids.show(ids.Prefix.LESSON, difference.lesson_id) if difference.lesson_id else None,
                said=difference.said,
                found=difference.found,
            )
            for difference in one.differences
        ],
        erased=lesson_ids(one.erased),
        missed=lesson_ids(one.missed),
    )


def _hit(hit: Hit) -> models.HitReply:
    return models.HitReply(
        lesson=lesson(hit.lesson, confidence=hit.confidence),
        score=hit.score,
        terms=dict(hit.terms),
        confidence=hit.confidence,
        label=hit.label,
        challenges=_challenges(hit.challenges),
    )


def lesson_at(one: Lesson, now: datetime) -> models.LessonReply:
    return lesson(one, confidence=round(shown_confidence(one, at=now), DIGITS))


def _challenges(challenges: Iterable[Challenge]) -> list[models.ChallengeReply]:
    return [
        models.ChallengeReply(
            id=ids.show(ids.Prefix.DISPUTE, one.dispute_id),
            lesson=ids.show(ids.Prefix.LESSON, one.lesson_id),
            text=one.text,
        )
        for one in challenges
    ]


def lesson_ids(found: Iterable[UUID]) -> list[str]:
    return [ids.show(ids.Prefix.LESSON, one) for one in found]


def instant(one: Instant) -> models.InstantReply:
    return models.InstantReply(tick=one.tick, at=one.at)
