"""Curation: how lessons end, how disputes are settled, and what curators look through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from tributary.contract import curation as contract
from tributary.core import ids
from tributary.core.curation import DisputeKind, Ending, Mistake, RetireCause, ReviewState
from tributary.edges.lambda_http import curation_words as words
from tributary.edges.lambda_http.operations.ask import Ask, Operation, page_of
from tributary.edges.lambda_http.operations.memory import learned_reply
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _retire(ask: Ask) -> HttpReply:
    key, request, principal, lesson_id = ask.key(), ask.body(contract.RetireRequest), ask.principal, ask.id()
    retired = ask.memory.curate.retire(principal, lesson_id, RetireCause(request.cause), idempotency_key=key)
    return of_model(words.retired(retired, now=ask.now()))


def _release(ask: Ask) -> HttpReply:
    key, principal, lesson_id, deadline_s = ask.key(), ask.principal, ask.id(), ask.deadline_s(None)
    ask.body(contract.ReleaseRequest)
    return learned_reply(ask, ask.memory.curate.release(principal, lesson_id, idempotency_key=key, deadline_s=deadline_s))


def _erase(ask: Ask) -> HttpReply:
    key, principal, lesson_id = ask.key(), ask.principal, ask.id()
    ask.body(contract.EraseRequest)
    return of_model(words.erased(ask.memory.curate.erase(principal, lesson_id, idempotency_key=key), now=ask.now()))


def _ending(ending: Ending, model: type[contract.EndingRequest | contract.RejectRequest]) -> Operation:
    def end(ask: Ask) -> HttpReply:
        key, request, principal, dispute_id = ask.key(), ask.body(model), ask.principal, ask.id()
        resolved = ask.memory.curate.resolve(
            principal,
            dispute_id,
            ending,
            rationale=request.rationale,
            seen_tick=request.seen_tick,
            idempotency_key=key,
            deadline_s=ask.deadline_s(None),
        )
        return of_model(words.resolved(resolved, now=ask.now()))

    return end


def _disputes(kind: DisputeKind) -> Operation:
    def listed(ask: Ask) -> HttpReply:
        given = ask.query()
        state, lesson_id, principal = given["state"], _lesson_id(given), ask.principal
        page = ask.memory.desk.disputes(
            principal,
            kind=kind,
            is_open=None if state == "any" else state == "open",
            lesson_id=lesson_id,
            **page_of(given),
        )
        return of_model(words.disputes(page, now=ask.now()))

    return listed


def _dispute(ask: Ask) -> HttpReply:
    ask.query()
    principal, dispute_id = ask.principal, ask.id()
    return of_model(words.dispute(ask.memory.desk.dispute(principal, dispute_id), now=ask.now()))


def _quarantine(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    return of_model(words.quarantine(ask.memory.desk.quarantine(principal, **page_of(given)), now=ask.now()))


def _decisions(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    lesson_id = _lesson_id(given)
    return of_model(words.decisions(ask.memory.desk.decisions(principal, lesson_id=lesson_id, **page_of(given))))


def _decision(ask: Ask) -> HttpReply:
    ask.query()
    principal, decision_id = ask.principal, ask.id()
    return of_model(words.decision_detail(ask.memory.desk.decision(principal, decision_id), now=ask.now()))


def _report(ask: Ask) -> HttpReply:
    key, request, principal, decision_id = ask.key(), ask.body(contract.ReportRequest), ask.principal, ask.id()
    candidate = None if request.lesson is None else ids.parse(ids.Prefix.LESSON, request.lesson, field="lesson")
    reported = ask.memory.curate.report(
        principal, decision_id, Mistake(request.should_be), candidate=candidate, note=request.note, idempotency_key=key
    )
    return of_model(words.reported(reported))


def _reviews(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    state = None if given["state"] == "any" else ReviewState(given["state"])
    return of_model(words.reviews(ask.memory.desk.reviews(principal, state=state, **page_of(given))))


def _accept_review(ask: Ask) -> HttpReply:
    key, request, principal, review_id = ask.key(), ask.body(contract.AcceptReviewRequest), ask.principal, ask.id()
    ask.memory.curate.accept_review(principal, review_id, request.golden, idempotency_key=key)
    return of_model(contract.ReviewClosedReply(review=ids.show(ids.Prefix.REVIEW, review_id), state="accepted"))


def _reject_review(ask: Ask) -> HttpReply:
    key, request, principal, review_id = ask.key(), ask.body(contract.RejectReviewRequest), ask.principal, ask.id()
    ask.memory.curate.reject_review(principal, review_id, reason=request.reason, idempotency_key=key)
    return of_model(contract.ReviewClosedReply(review=ids.show(ids.Prefix.REVIEW, review_id), state="rejected"))


def _policy(ask: Ask) -> HttpReply:
    ask.query()
    return of_model(words.policy_reply(ask.memory.curate.policy(ask.principal)))


def _set_policy(ask: Ask) -> HttpReply:
    ask.query()
    wanted, principal = words.policy(ask.body(contract.PolicyRequest)), ask.principal
    return of_model(words.policy_reply(ask.memory.curate.set_policy(principal, wanted)))


def _audit(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    return of_model(words.audit(ask.memory.desk.audit(principal, **page_of(given))))


def _lesson_id(given: Mapping[str, str]) -> UUID | None:
    return ids.parse(ids.Prefix.LESSON, given["lesson"], field="lesson") if "lesson" in given else None


CURATION: Mapping[str, Callable[[Ask], HttpReply]] = {
    "retire": _retire,
    "release": _release,
    "erase": _erase,
    "disputes": _disputes(DisputeKind.CONFLICT),
    "challenges": _disputes(DisputeKind.UNSURE),
    "dispute": _dispute,
    "accept_dispute": _ending(Ending.ACCEPTED, contract.EndingRequest),
    "reject_dispute": _ending(Ending.REJECTED, contract.RejectRequest),
    "both_stand": _ending(Ending.BOTH_STAND, contract.EndingRequest),
    "quarantine": _quarantine,
    "decisions": _decisions,
    "decision": _decision,
    "report": _report,
    "reviews": _reviews,
    "accept_review": _accept_review,
    "reject_review": _reject_review,
    "policy": _policy,
    "set_policy": _set_policy,
    "audit": _audit,
}
