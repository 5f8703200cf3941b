"""Routes of curation: how lessons end, how disputes are settled, and what curators look through."""

from __future__ import annotations

from http import HTTPStatus

from tributary.contract import curation
from tributary.contract.models import LearnReply
from tributary.contract.route import QueryParameter, Route

PAGE = (
    QueryParameter(
        name="limit",
        description="How many items a page holds.",
        schema={"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
    ),
    QueryParameter(name="before", description="`next` of the page before.", schema={"type": "string"}),
)
_LESSON = QueryParameter(
    name="lesson", description="Only what this lesson is part of.", schema={"type": "string", "pattern": "^les_[0-9a-f]{32}$"}
)
_DISPUTE_STATE = QueryParameter(
    name="state",
    description="Open ones when absent.",
    schema={"type": "string", "enum": ["open", "settled", "any"], "default": "open"},
)


def _ending(operation: str, verb: str, summary: str) -> Route:
    return Route(
        operation=operation,
        method="POST",
        path=f"/v1/disputes/{{id}}/{verb}",
        function="curate",
        role="curator",
        summary=summary,
        request=curation.RejectRequest if verb == "reject" else curation.EndingRequest,
        reply=curation.ResolvedReply,
        id_of="dis",
        keyed=True,
    )


CURATION: tuple[Route, ...] = (
    Route(
        operation="retire",
        method="POST",
        path="/v1/lessons/{id}/retire",
        function="curate",
        role="writer",
        summary="End a lesson: its author's word, or a curator's",
        request=curation.RetireRequest,
        reply=curation.RetiredReply,
        keyed=True,
    ),
    Route(
        operation="release",
        method="POST",
        path="/v1/lessons/{id}/release",
        function="curate",
        role="curator",
        summary="Learn a quarantined lesson as its author's",
        request=curation.ReleaseRequest,
        reply=LearnReply,
        also=(HTTPStatus.ACCEPTED,),
        keyed=True,
    ),
    Route(
        operation="erase",
        method="POST",
        path="/v1/lessons/{id}/erase",
        function="curate",
        role="curator",
        summary="Remove what a lesson says from everywhere",
        request=curation.EraseRequest,
        reply=curation.ErasedReply,
        keyed=True,
    ),
    Route(
        operation="disputes",
        method="GET",
        path="/v1/disputes",
        function="curate",
        role="reader",
        summary="List disputes, newest first",
        reply=curation.DisputesReply,
        query=(*PAGE, _DISPUTE_STATE, _LESSON),
    ),
    Route(
        operation="challenges",
        method="GET",
        path="/v1/challenges",
        function="curate",
        role="reader",
        summary="List pairs of believed lessons that may contradict each other, newest first",
        reply=curation.DisputesReply,
        query=(*PAGE, _DISPUTE_STATE, _LESSON),
    ),
    Route(
        operation="dispute",
        method="GET",
        path="/v1/disputes/{id}",
        function="curate",
        role="reader",
        summary="Show one dispute or challenge",
        reply=curation.DisputeReply,
        id_of="dis",
    ),
    _ending("accept_dispute", "accept", "Find the contender right: it replaces every believed rival"),
    _ending("reject_dispute", "reject", "Find the contender wrong, and remember it"),
    _ending("both_stand", "both-stand", "Find the verdict wrong: the lessons do not contradict each other"),
    Route(
        operation="quarantine",
        method="GET",
        path="/v1/quarantine",
        function="curate",
        role="curator",
        summary="List lessons that the screen held back, newest first",
        reply=curation.QuarantineReply,
        query=PAGE,
    ),
    Route(
        operation="decisions",
        method="GET",
        path="/v1/decisions",
        function="curate",
        role="curator",
        summary="List decisions, newest first",
        reply=curation.DecisionsReply,
        query=(*PAGE, _LESSON),
    ),
    Route(
        operation="decision",
        method="GET",
        path="/v1/decisions/{id}",
        function="curate",
        role="curator",
        summary="Show one decision with the lessons that it was about",
        reply=curation.DecisionDetailReply,
        id_of="dec",
    ),
    Route(
        operation="report",
        method="POST",
        path="/v1/decisions/{id}/report",
        function="curate",
        role="writer",
        summary="Report that a decision was wrong",
        request=curation.ReportRequest,
        reply=curation.ReportedReply,
        id_of="dec",
        keyed=True,
    ),
    Route(
        operation="reviews",
        method="GET",
        path="/v1/reviews",
        function="curate",
        role="curator",
        summary="List cases of the review queue, newest first",
        reply=curation.ReviewsReply,
        query=(
            *PAGE,
            QueryParameter(
                name="state",
                description="Open ones when absent.",
                schema={"type": "string", "enum": ["open", "accepted", "rejected", "any"], "default": "open"},
            ),
        ),
    ),
    Route(
        operation="accept_review",
        method="POST",
        path="/v1/reviews/{id}/accept",
        function="curate",
        role="curator",
        summary="Take a case off the review queue that became a row of a golden set",
        request=curation.AcceptReviewRequest,
        reply=curation.ReviewClosedReply,
        id_of="rev",
        keyed=True,
    ),
    Route(
        operation="reject_review",
        method="POST",
        path="/v1/reviews/{id}/reject",
        function="curate",
        role="curator",
        summary="Take a case off the review queue",
        request=curation.RejectReviewRequest,
        reply=curation.ReviewClosedReply,
        id_of="rev",
        keyed=True,
    ),
    Route(
        operation="policy",
        method="GET",
        path="/v1/policy",
        function="curate",
        role="reader",
        summary="Show which source outranks which",
        reply=curation.PolicyReply,
    ),
    Route(
        operation="set_policy",
        method="PUT",
        path="/v1/policy",
        function="curate",
        role="curator",
        summary="Set which source outranks which",
        request=curation.PolicyRequest,
        reply=curation.PolicyReply,
    ),
    Route(
        operation="audit",
        method="GET",
        path="/v1/audit",
        function="curate",
        role="curator",
        summary="List refusals and administrative changes, newest first",
        reply=curation.AuditReply,
        query=PAGE,
    ),
)
