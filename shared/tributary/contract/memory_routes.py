"""Routes of the memory itself: learn, recall and what belongs to them."""

from __future__ import annotations

from http import HTTPStatus
from typing import get_args

from tributary.contract import distilling, limits, models
from tributary.contract.route import MOMENT, QueryParameter, Route
from tributary.contract.values import NAME

_AS_OF = QueryParameter(
    name="as_of",
    description="A tick of this tribe, or an RFC 3339 time with offset: the state as it was believed then.",
    schema={"type": "string", "pattern": MOMENT},
)

MEMORY: tuple[Route, ...] = (
    Route(
        operation="learn",
        method="POST",
        path="/v1/lessons",
        function="learn",
        role="writer",
        summary="Learn a lesson",
        request=models.LearnRequest,
        reply=models.LearnReply,
        also=(HTTPStatus.ACCEPTED,),
        keyed=True,
    ),
    Route(
        operation="learn_batch",
        method="POST",
        path="/v1/lessons/batch",
        function="learn",
        role="writer",
        summary="Learn up to 100 lessons, each for itself",
        request=models.BatchRequest,
        reply=models.BatchReply,
        also=(HTTPStatus.ACCEPTED,),
        keyed=True,
        body_bytes=limits.BATCH_BYTES,
    ),
    Route(
        operation="reinforce",
        method="POST",
        path="/v1/lessons/{id}/reinforce",
        function="learn",
        role="writer",
        summary="Confirm that a lesson held",
        request=models.ReinforceRequest,
        reply=models.ReinforceReply,
        keyed=True,
    ),
    Route(
        operation="contest",
        method="POST",
        path="/v1/lessons/{id}/contest",
        function="learn",
        role="writer",
        summary="Say what speaks against a believed lesson",
        request=models.ContestRequest,
        reply=models.LearnReply,
        also=(HTTPStatus.ACCEPTED,),
        keyed=True,
    ),
    Route(
        operation="distill",
        method="POST",
        path="/v1/distill",
        function="learn",
        role="writer",
        summary="Find lessons in a transcript, without learning them",
        request=distilling.DistillRequest,
        reply=distilling.DistillReply,
        paced=True,
        body_bytes=limits.DISTILL_BYTES,
    ),
    Route(
        operation="recall",
        method="POST",
        path="/v1/recall",
        function="recall",
        role="reader",
        summary="Recall what the tribe believes",
        request=models.RecallRequest,
        reply=models.RecallReply,
    ),
    Route(
        operation="verify",
        method="POST",
        path="/v1/receipts/verify",
        function="recall",
        role="reader",
        summary="Check a receipt against what was believed at its tick",
        request=models.VerifyRequest,
        reply=models.VerifyReply,
        body_bytes=limits.VERIFY_BYTES,
    ),
    Route(
        operation="lessons",
        method="GET",
        path="/v1/lessons",
        function="recall",
        role="reader",
        summary="List lessons, newest first",
        reply=models.LessonsReply,
        query=(
            QueryParameter(
                name="limit",
                description="How many lessons a page holds.",
                schema={"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            ),
            QueryParameter(
                name="before",
                description="`next` of the page before.",
                schema={"type": "string"},
            ),
            QueryParameter(
                name="status",
                description="Only lessons that stand so; believed ones when absent; `any` for all.",
                schema={
                    "type": "string",
                    "enum": [
                        "active",
                        "pending",
                        "disputed",
                        "quarantined",
                        "superseded",
                        "retired",
                        "evicted",
                        "erased",
                        "any",
                    ],
                },
            ),
            QueryParameter(
                name="ref",
                description="Only lessons whose source has exactly this `ref`.",
                schema={"type": "string", "maxLength": limits.REF_CHARACTERS},
            ),
            QueryParameter(
                name="ref_prefix",
                description="Only lessons whose source has a `ref` that begins so, such as `runbook.md#`.",
                schema={"type": "string", "maxLength": limits.REF_CHARACTERS},
            ),
            QueryParameter(
                name="mine",
                description="`true`: only what the caller taught, with what of it a screen holds back.",
                schema={"type": "string", "enum": ["true", "false"], "default": "false"},
            ),
            QueryParameter(
                name="kind",
                description="Only lessons of this kind.",
                schema={"type": "string", "enum": list(get_args(models.Kind))},
            ),
            QueryParameter(
                name="subject",
                description="Only lessons about this: `Deploy API`, `deploy_api` and `deploy-api` are one subject.",
                schema={"type": "string", "maxLength": limits.SUBJECT_CHARACTERS},
            ),
            QueryParameter(
                name="tag",
                description="Only lessons with this tag, `key=value`; given more than once, with all of them.",
                schema={
                    "type": "array",
                    "items": {
                        "type": "string",
                        "pattern": r"^[^=]*[^=\s][^=]*=.*\S",
                        "maxLength": limits.TAG_KEY_CHARACTERS + 1 + limits.TAG_VALUE_CHARACTERS,
                    },
                    "maxItems": limits.TAGS,
                },
            ),
            QueryParameter(
                name="author",
                description="Only what this agent taught: its id, or its name as `author` of a lesson shows it.",
                schema={"type": "string", "maxLength": 100, "pattern": f"^{NAME}$"},
            ),
            _AS_OF,
        ),
    ),
    Route(
        operation="lesson",
        method="GET",
        path="/v1/lessons/{id}",
        function="recall",
        role="reader",
        summary="Show one lesson",
        reply=models.LessonDetailReply,
        query=(_AS_OF,),
    ),
)
