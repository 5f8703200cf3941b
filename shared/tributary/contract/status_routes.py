"""Routes about the memory itself."""

from __future__ import annotations

from tributary.contract import costs, limits, status
from tributary.contract.route import QueryParameter, Route

_DAY: dict[str, object] = {"type": "string", "format": "date"}

STATUS: tuple[Route, ...] = (
    Route(
        operation="me",
        method="GET",
        path="/v1/me",
        function="recall",
        role="reader",
        summary="Tell who is asking",
        reply=status.MeReply,
    ),
    Route(
        operation="stats",
        method="GET",
        path="/v1/stats",
        function="recall",
        role="reader",
        summary="Show how the tribe stands and is used",
        reply=status.StatsReply,
    ),
    Route(
        operation="status",
        method="GET",
        path="/v1/status",
        function="recall",
        role="reader",
        summary="Look at all that a recall needs",
        reply=status.StatusReply,
    ),
    Route(
        operation="costs",
        method="GET",
        path="/v1/costs",
        function="curate",
        role="curator",
        summary="Show what calls of models cost",
        reply=costs.CostsReply,
        query=(
            QueryParameter(
                name="from", description="The first day (UTC), `2026-03-01`; 29 days before `to` when absent.", schema=_DAY
            ),
            QueryParameter(
                name="to",
                description=f"The last day (UTC); today when absent. At most {limits.COST_DAYS} days are told.",
                schema=_DAY,
            ),
            QueryParameter(
                name="by",
                description="What they are added up by.",
                schema={"type": "string", "enum": ["day", "purpose", "model", "agent"], "default": "day"},
            ),
        ),
    ),
)
