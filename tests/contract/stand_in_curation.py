"""Curation for tests of the HTTP edge: notes what it is asked and answers simply."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.contract.stand_in_history import citation
from tests.unit import core_made as made
from tributary.core.agent import Agent, Principal, Role, Token
from tributary.core.curation import (
    AuditEntry,
    DecisionDetail,
    DecisionRecord,
    Dispute,
    DisputeKind,
    Ending,
    Erased,
    Held,
    Mistake,
    Reported,
    Resolved,
    RetireCause,
    Retired,
    Review,
    ReviewState,
    Signal,
)
from tributary.core.decision import Learned, Outcome
from tributary.core.ids import new_id
from tributary.core.lesson import Instant, Lesson
from tributary.core.policy import Policy
from tributary.core.requests import Page
from tributary.curate import Curator, Desk

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
Note = Callable[..., None]
_VERDICT: dict[str, object] = {
    "lesson_id": str(UUID(int=100)),
    "verdict": "conflicts",
    "confidence": 0.9,
    "judge": "made/1",
    "cause": None,
    "first": {"verdict": "same", "confidence": 0.5, "judge": "made-cheaply/1", "cause": None},
}


class StandInCurator(Curator):
    """Gives everything as done."""

    def __init__(self, note: Note, lesson: Callable[[UUID], Lesson]) -> None:
        object.__setattr__(self, "note", note)
        object.__setattr__(self, "lesson", lesson)

    note: Note
    lesson: Callable[[UUID], Lesson]

    def retire(self, principal: Principal, lesson_id: UUID, cause: RetireCause, *, idempotency_key: str | None = None) -> Retired:
        self.note("retire", principal=principal, lesson_id=lesson_id, cause=cause, idempotency_key=idempotency_key)
        return Retired(lesson=self.lesson(lesson_id), cause=cause, tick=2, replayed=False)

    def release(
        self, principal: Principal, lesson_id: UUID, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> Learned:
        self.note("release", principal=principal, lesson_id=lesson_id, idempotency_key=idempotency_key, deadline_s=deadline_s)
        return Learned(
            outcome=Outcome.LEARNED,
            lesson=self.lesson(lesson_id),
            replaced=(),
            dispute_id=None,
            challenges=(),
            reason="released",
            decision_id=new_id(),
            tick=2,
            replayed=False,
        )

    def erase(self, principal: Principal, lesson_id: UUID, *, idempotency_key: str | None = None) -> Erased:
        self.note("erase", principal=principal, lesson_id=lesson_id, idempotency_key=idempotency_key)
        return Erased(lesson=self.lesson(lesson_id), erased=(lesson_id,), tick=2, replayed=False)

    def resolve(
        self,
        principal: Principal,
        dispute_id: UUID,
        ending: Ending,
        *,
        rationale: str | None = None,
        seen_tick: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Resolved:
        self.note(
            "resolve",
            principal=principal,
            dispute_id=dispute_id,
            ending=ending,
            rationale=rationale,
            seen_tick=seen_tick,
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
        )
        return Resolved(
            resolved=dispute_id,
            ending=ending,
            outcome=None,
            lesson=made.lesson(),
            replaced=(),
            retired=(),
            dispute_id=None,
            challenges=(),
            reason="a curator said so",
            decision_id=None,
            tick=3,
            replayed=False,
        )

    def report(
        self,
        principal: Principal,
        decision_id: UUID,
        mistake: Mistake,
        *,
        candidate: UUID | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Reported:
        self.note(
            "report",
            principal=principal,
            decision_id=decision_id,
            mistake=mistake,
            candidate=candidate,
            said=note,
            idempotency_key=idempotency_key,
        )
        return Reported(review_id=new_id(), decision_id=decision_id, queued=True, tick=3, replayed=False)

    def accept_review(self, principal: Principal, review_id: UUID, golden: str, *, idempotency_key: str | None = None) -> None:
        self.note("accept_review", principal=principal, review_id=review_id, golden=golden, idempotency_key=idempotency_key)

    def reject_review(
        self, principal: Principal, review_id: UUID, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> None:
        self.note("reject_review", principal=principal, review_id=review_id, reason=reason, idempotency_key=idempotency_key)

    def policy(self, principal: Principal) -> Policy:
        self.note("policy", principal=principal)
        return Policy()

    def set_policy(self, principal: Principal, policy: Policy) -> Policy:
        self.note("set_policy", principal=principal, policy=policy)
        return policy


class StandInDesk(Desk):
    """Has one thing on each page."""

    def __init__(self, note: Note) -> None:
        object.__setattr__(self, "note", note)

    note: Note

    def disputes(
        self,
        principal: Principal,
        *,
        kind: DisputeKind | None = DisputeKind.CONFLICT,
        is_open: bool | None = True,
        lesson_id: UUID | None = None,
        limit: int = 20,
        before: str | None = None,
    ) -> Page[Dispute]:
        self.note("disputes", principal=principal, kind=kind, is_open=is_open, lesson_id=lesson_id, limit=limit, before=before)
        return _page(_dispute(new_id(), kind or DisputeKind.CONFLICT))

    def dispute(self, principal: Principal, dispute_id: UUID) -> Dispute:
        self.note("dispute", principal=principal, dispute_id=dispute_id)
        return _dispute(dispute_id, DisputeKind.CONFLICT)

    def quarantine(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[Held]:
        self.note("quarantine", principal=principal, limit=limit, before=before)
        return _page(Held(lesson=made.lesson(), decision_id=new_id(), screen="made/1", reasons=("override",)))

    def decisions(
        self, principal: Principal, *, lesson_id: UUID | None = None, limit: int = 20, before: str | None = None
    ) -> Page[DecisionRecord]:
        self.note("decisions", principal=principal, lesson_id=lesson_id, limit=limit, before=before)
        return _page(_decision(new_id()))

    def decision(self, principal: Principal, decision_id: UUID) -> DecisionDetail:
        self.note("decision", principal=principal, decision_id=decision_id)
        return DecisionDetail(decision=_decision(decision_id), lesson=made.lesson(), candidates=(made.lesson(),))

    def reviews(
        self,
        principal: Principal,
        *,
        state: ReviewState | None = ReviewState.OPEN,
        limit: int = 20,
        before: str | None = None,
    ) -> Page[Review]:
        self.note("reviews", principal=principal, state=state, limit=limit, before=before)
        return _page(
            Review(
                review_id=new_id(),
                signal=Signal.REPORTED,
                suite="judge",
                fingerprint="ab" * 32,
                inputs={"old": {"text": "a"}, "new": {"text": "b"}},
                found="conflicts",
                expected="unrelated",
                note=None,
                lesson_ids=(UUID(int=100),),
                decision_id=new_id(),
                state=ReviewState.OPEN,
                golden=None,
                reason=None,
                by="author",
                tick=2,
                at=AT,
            )
        )

    def agents(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[Agent]:
        self.note("agents", principal=principal, limit=limit, before=before)
        return _page(Agent(agent_id=UUID(int=7), name="made", role=Role.WRITER, created_at=AT, revoked_at=None))

    def agent(self, principal: Principal, agent_id: UUID) -> Agent:
        self.note("agent", principal=principal, agent_id=agent_id)
        return Agent(agent_id=agent_id, name="made", role=Role.WRITER, created_at=AT, revoked_at=None)

    def tokens(self, principal: Principal, agent_id: UUID, *, limit: int = 20, before: str | None = None) -> Page[Token]:
        self.note("tokens", principal=principal, agent_id=agent_id, limit=limit, before=before)
        return _page(
            Token(
                token_id=UUID(int=8),
                agent_id=agent_id,
                created_at=AT,
                expires_at=AT,
                revoked_at=None,
                last_used_at=None,
            )
        )

    def audit(self, principal: Principal, *, limit: int = 20, before: str | None = None) -> Page[AuditEntry]:
        self.note("audit", principal=principal, limit=limit, before=before)
        return _page(AuditEntry(audit_id=new_id(), at=AT, agent="author", action="learn", code="forbidden", detail="a reader"))


def _decision(decision_id: UUID) -> DecisionRecord:
    return DecisionRecord(
        decision_id=decision_id,
        tick=2,
        at=AT,
        writer="author",
        actor="author",
        lesson_id=UUID(int=100),
        draft={"text": "needs X-Batch", "situation": "deploying", "subject": None},
        text="needs X-Batch",
        judged_tick=1,
        replans=0,
        candidates=({"lesson_id": str(UUID(int=100)), "status": "active", "similarity": 0.5},),
        verdicts=(_VERDICT,),
        screen="made/1",
        screening=(),
        outcome=Outcome.DISPUTED,
        reason="contradicts a believed lesson",
        receipts=(citation(),),
    )


def _dispute(dispute_id: UUID, kind: DisputeKind) -> Dispute:
    return Dispute(
        dispute_id=dispute_id,
        kind=kind,
        contender=made.lesson(101),
        about=(made.lesson(),),
        opened=Instant(tick=2, at=AT),
        closed=None,
        ending=None,
        closed_by=None,
        rationale=None,
        decision_id=new_id(),
        precedent=None,
        verdicts=(_VERDICT,),
    )


def _page(item: Any) -> Page[Any]:
    return Page(items=(item,), next_before=None, receipt=made.receipt(key="k1", signature="00"))
