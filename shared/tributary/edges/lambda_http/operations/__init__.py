"""What each operation of the route table does: read the request, ask the service, translate what it says."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.edges.lambda_http.operations.actions import ACTIONS
from tributary.edges.lambda_http.operations.agents import AGENTS
from tributary.edges.lambda_http.operations.ask import Ask, Operation
from tributary.edges.lambda_http.operations.curation import CURATION
from tributary.edges.lambda_http.operations.history import HISTORY
from tributary.edges.lambda_http.operations.memory import MEMORY
from tributary.edges.lambda_http.operations.status import STATUS

__all__ = ["OPERATIONS", "Ask"]

OPERATIONS: Mapping[str, Operation] = {**MEMORY, **HISTORY, **CURATION, **ACTIONS, **AGENTS, **STATUS}
"""Operation of a route -> what it does. That each route has one is tested."""
