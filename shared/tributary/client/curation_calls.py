"""One function per operation of curation: from arguments to the request to send and the way to read its reply. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from tributary.client.calls import Call, checked_key, page_query
from tributary.client.ids import DecisionRef, DisputeRef, LessonRef, ReviewRef, decision_id, dispute_id, lesson_id, review_id
from tributary.client.receipts import Receipt, read_receipt
from tributary.client.replies import read
from tributary.client.values import body_of, checked
from tributary.contract import curation
from tributary.contract.curation import Mistake
from tributary.contract.models import LearnReply, Request

Item = TypeVar("Item")
Model = TypeVar("Model", bound=BaseModel)

DisputeState = Literal["open", "settled", "any"]
ReviewFilter = Literal["open", "accepted", "rejected", "any"]


@dataclass(frozen=True, kw_only=True)
class ListingPage(Generic[Item]):
    """Some items of a listing, newest first, the receipt of their search, and the cursor of the next page."""

    items: tuple[Item, ...]
    next: str | None
    receipt: Receipt

    @property
    def tick(self) -> int:
        """The tick at which the page was read: what `seen_tick` of a decision about its items should be."""
        return min(one.tick for one in self.receipt.searched)


def disputes(
    *, state: DisputeState, lesson: LessonRef | None, page_size: int, before: str | None
) -> Call[ListingPage[curation.DisputeReply]]:
    query = {"state": state, **_of_lesson(lesson)}
    return listing("disputes", curation.DisputesReply, lambda page: page.disputes, query, page_size, before)


def challenges(
    *, state: DisputeState, lesson: LessonRef | None, page_size: int, before: str | None
) -> Call[ListingPage[curation.DisputeReply]]:
    query = {"state": state, **_of_lesson(lesson)}
    return listing("challenges", curation.DisputesReply, lambda page: page.disputes, query, page_size, before)


def quarantine(*, page_size: int, before: str | None) -> Call[ListingPage[curation.HeldReply]]:
    return listing("quarantine", curation.QuarantineReply, lambda page: page.held, {}, page_size, before)


def decisions(*, lesson: LessonRef | None, page_size: int, before: str | None) -> Call[ListingPage[curation.DecisionReply]]:
    return listing("decisions", curation.DecisionsReply, lambda page: page.decisions, _of_lesson(lesson), page_size, before)


def reviews(*, state: ReviewFilter, page_size: int, before: str | None) -> Call[ListingPage[curation.ReviewReply]]:
    return listing("reviews", curation.ReviewsReply, lambda page: page.reviews, {"state": state}, page_size, before)


def audit(*, page_size: int, before: str | None) -> Call[ListingPage[curation.AuditEntryReply]]:
    return listing("audit", curation.AuditReply, lambda page: page.entries, {}, page_size, before)


def dispute(which: DisputeRef) -> Call[curation.DisputeReply]:
    return Call(
        operation="dispute",
        method="GET",
        path=f"/v1/disputes/{dispute_id(which)}",
        read=lambda body: read(curation.DisputeReply, body),
    )


def decision(which: DecisionRef) -> Call[curation.DecisionDetailReply]:
    return Call(
        operation="decision",
        method="GET",
        path=f"/v1/decisions/{decision_id(which)}",
        read=lambda body: read(curation.DecisionDetailReply, body),
    )


def accept(
    which: DisputeRef, *, rationale: str | None, seen_tick: int | None, idempotency_key: str
) -> Call[curation.ResolvedReply]:
    request = checked(lambda: curation.EndingRequest(rationale=rationale, seen_tick=seen_tick))
    path = f"/v1/disputes/{dispute_id(which)}/accept"
    return _write("accept_dispute", path, request, curation.ResolvedReply, idempotency_key)


def reject(which: DisputeRef, *, rationale: str, seen_tick: int | None, idempotency_key: str) -> Call[curation.ResolvedReply]:
    request = checked(lambda: curation.RejectRequest(rationale=rationale, seen_tick=seen_tick))
    path = f"/v1/disputes/{dispute_id(which)}/reject"
    return _write("reject_dispute", path, request, curation.ResolvedReply, idempotency_key)


def both_stand(
    which: DisputeRef, *, rationale: str | None, seen_tick: int | None, idempotency_key: str
) -> Call[curation.ResolvedReply]:
    request = checked(lambda: curation.EndingRequest(rationale=rationale, seen_tick=seen_tick))
    path = f"/v1/disputes/{dispute_id(which)}/both-stand"
    return _write("both_stand", path, request, curation.ResolvedReply, idempotency_key)


def release(which: LessonRef, *, idempotency_key: str) -> Call[LearnReply]:
    path = f"/v1/lessons/{lesson_id(which)}/release"
    return _write("release", path, curation.ReleaseRequest(), LearnReply, idempotency_key)


def erase(which: LessonRef, *, idempotency_key: str) -> Call[curation.ErasedReply]:
    path = f"/v1/lessons/{lesson_id(which)}/erase"
    return _write("erase", path, curation.EraseRequest(), curation.ErasedReply, idempotency_key)


def report(
    which: DecisionRef, *, should_be: Mistake, lesson: LessonRef | None, note: str | None, idempotency_key: str
) -> Call[curation.ReportedReply]:
    about = None if lesson is None else lesson_id(lesson)
    request = checked(lambda: curation.ReportRequest(should_be=should_be, lesson=about, note=note))
    path = f"/v1/decisions/{decision_id(which)}/report"
    return _write("report", path, request, curation.ReportedReply, idempotency_key)


def accept_review(which: ReviewRef, *, golden: str, idempotency_key: str) -> Call[curation.ReviewClosedReply]:
    path = f"/v1/reviews/{review_id(which)}/accept"
    request = checked(lambda: curation.AcceptReviewRequest(golden=golden))
    return _write("accept_review", path, request, curation.ReviewClosedReply, idempotency_key)


def reject_review(which: ReviewRef, *, reason: str | None, idempotency_key: str) -> Call[curation.ReviewClosedReply]:
    path = f"/v1/reviews/{review_id(which)}/reject"
    request = checked(lambda: curation.RejectReviewRequest(**({} if reason is None else {"reason": reason})))
    return _write("reject_review", path, request, curation.ReviewClosedReply, idempotency_key)


def policy() -> Call[curation.PolicyReply]:
    return Call(operation="policy", method="GET", path="/v1/policy", read=lambda body: read(curation.PolicyReply, body))


def policy_request(wanted: curation.PolicyReply | Mapping[str, object]) -> curation.PolicyRequest:
    """Returns a policy as it is sent; raises InvalidRequest naming every field that breaks a rule."""
    given = wanted.model_dump() if isinstance(wanted, curation.PolicyReply) else wanted
    return checked(lambda: curation.PolicyRequest.model_validate(given))


def set_policy(request: curation.PolicyRequest) -> Call[curation.PolicyReply]:
    return Call(
        operation="set_policy",
        method="PUT",
        path="/v1/policy",
        body=body_of(request),
        read=lambda body: read(curation.PolicyReply, body),
    )


def is_in_force(request: curation.PolicyRequest, found: curation.PolicyReply) -> bool:
    """Tells whether `found` is what `request` asked for, in the very next version: its reply was lost, not its effect."""
    wanted = request.model_copy(update={"version": request.version + 1})
    return _comparable(wanted) == _comparable(curation.PolicyRequest.model_validate(found.model_dump()))


def _comparable(policy: curation.PolicyRequest) -> dict[str, object]:
    rules = [(one.how, one.with_evidence, frozenset(one.over)) for one in policy.precedence]
    return {**policy.model_dump(), "precedence": rules}


def _of_lesson(lesson: LessonRef | None) -> dict[str, str]:
    return {} if lesson is None else {"lesson": lesson_id(lesson)}


def listing(
    operation: str,
    model: type[Model],
    items: Callable[[Model], list[Item]],
    query: Mapping[str, str],
    page_size: int,
    before: str | None,
) -> Call[ListingPage[Item]]:
    """Returns the call for a page of a listing, which has the operation's name as its path."""

    def read_page(body: bytes) -> ListingPage[Item]:
        reply = read(model, body)
        cursor: str | None = getattr(reply, "next", None)
        return ListingPage(items=tuple(items(reply)), next=cursor, receipt=read_receipt(body))

    asked = {**query, **page_query(page_size, before)}
    return Call(operation=operation, method="GET", path=f"/v1/{operation}", query=asked, read=read_page)


def _write(operation: str, path: str, request: Request, reply: type[Model], key: str) -> Call[Model]:
    return Call(
        operation=operation,
        method="POST",
        path=path,
        body=body_of(request),
        idempotency_key=checked_key(key),
        read=lambda body: read(reply, body),
    )
