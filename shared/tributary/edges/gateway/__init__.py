"""The local gateway: HTTP in, API Gateway events to the code that Lambda runs, HTTP out. Same limits as on AWS."""

from tributary.edges.gateway.app import DASHBOARD_PATH, Gateway
from tributary.edges.gateway.server import DEFAULT_HOST, DEFAULT_PORT, Started, running, serve

__all__ = ["DASHBOARD_PATH", "DEFAULT_HOST", "DEFAULT_PORT", "Gateway", "Started", "running", "serve"]
