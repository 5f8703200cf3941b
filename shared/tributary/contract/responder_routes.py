"""The route of the incident agent."""

from __future__ import annotations

from tributary.contract import responding
from tributary.contract.route import Route

RESPONDER: tuple[Route, ...] = (
    Route(
        operation="respond",
        method="POST",
        path="/v1/responder/turn",
        function="responder",
        role="writer",
        summary="Have the incident agent take a turn",
        request=responding.RespondRequest,
        reply=responding.RespondReply,
        paced=True,
    ),
)
