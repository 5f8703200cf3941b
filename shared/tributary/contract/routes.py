"""The table of routes: served by the functions and the local gateway, and written out as OpenAPI.

Paths use whole-segment variables, as API Gateway's HTTP APIs need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel

from tributary.contract import models

Role = Literal["reader", "writer", "curator"]


@dataclass(frozen=True, kw_only=True)
class QueryParameter:
    name: str
    description: str
    schema: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Route:
    """One operation. `function` names the Lambda function that serves it; `role` is None on open routes."""

    operation: str
    method: Literal["GET", "POST", "PUT"]
    path: str
    function: str
    role: Role | None
    summary: str
    reply: type[BaseModel] | None
    request: type[BaseModel] | None = None
    query: tuple[QueryParameter, ...] = ()
    also: tuple[HTTPStatus, ...] = ()
    """Other statuses of success, with the same reply."""

    @property
    def writes(self) -> bool:
        return self.method != "GET" and self.function == "learn"


_AS_OF = QueryParameter(
    name="as_of",
    description="A tick of this tribe, or an RFC 3339 time with offset: the state as it was believed then.",
    schema={"type": "string"},
)

ROUTES: tuple[Route, ...] = (
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
    Route(
        operation="health",
        method="GET",
        path="/health",
        function="recall",
        role=None,
        summary="Tell whether the memory can be reached",
        reply=models.HealthReply,
    ),
    Route(
        operation="openapi",
        method="GET",
        path="/openapi.json",
        function="recall",
        role=None,
        summary="This description",
        reply=None,
    ),
    Route(
        operation="docs",
        method="GET",
        path="/docs",
        function="recall",
        role=None,
        summary="This description as a page",
        reply=None,
    ),
)
