"""The table of routes: served by the functions and the local gateway, and written out as OpenAPI."""

from __future__ import annotations

from tributary.contract import models
from tributary.contract.action_routes import ACTIONS
from tributary.contract.activity_routes import ACTIVITY
from tributary.contract.agent_routes import AGENTS
from tributary.contract.curation_routes import CURATION
from tributary.contract.evidence_routes import EVIDENCE
from tributary.contract.history_routes import HISTORY
from tributary.contract.mcp_routes import MCP
from tributary.contract.memory_routes import MEMORY
from tributary.contract.responder_routes import RESPONDER
from tributary.contract.route import Route
from tributary.contract.status_routes import STATUS

__all__ = ["ROUTES", "Route"]

_OPEN: tuple[Route, ...] = (
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

ROUTES: tuple[Route, ...] = (
    *MEMORY,
    *HISTORY,
    *EVIDENCE,
    *CURATION,
    *ACTIONS,
    *AGENTS,
    *STATUS,
    *ACTIVITY,
    *RESPONDER,
    *MCP,
    *_OPEN,
)
