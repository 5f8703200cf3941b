"""Routes about how busy a tribe was, and how good the code and the models are."""

from __future__ import annotations

from tributary.contract import activity, limits
from tributary.contract.route import QueryParameter, Route

ACTIVITY: tuple[Route, ...] = (
    Route(
        operation="activity",
        method="GET",
        path="/v1/activity",
        function="recall",
        role="reader",
        summary="Show how busy the tribe was, hour by hour",
        reply=activity.ActivityReply,
        query=(
            QueryParameter(
                name="hours",
                description="How far back: so many hours with the one that is running. Beyond 72 they come as whole days (UTC).",
                schema={"type": "integer", "minimum": 1, "maximum": limits.ACTIVITY_HOURS, "default": 24},
            ),
        ),
    ),
    Route(
        operation="evaluations",
        method="GET",
        path="/v1/evaluations",
        function="recall",
        role="reader",
        summary="Show what evals found, newest run first",
        reply=activity.EvaluationsReply,
        query=(
            QueryParameter(
                name="limit",
                description="How many runs.",
                schema={"type": "integer", "minimum": 1, "maximum": limits.EVALUATION_RUNS, "default": 20},
            ),
        ),
    ),
)
