"""Routes about the memory itself."""

from __future__ import annotations

from tributary.contract import status
from tributary.contract.route import Route

STATUS: tuple[Route, ...] = (
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
)
