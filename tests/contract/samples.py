"""Requests that the contract tests send, and how they are sent."""

from __future__ import annotations

from typing import Any

import httpx

from tributary.core.agent import Principal
from tributary.core.clock import utc_now
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.http_event import HttpRequest, to_event
from tributary.edges.lambda_http.port import Door, Event
from tributary.edges.lambda_http.principal import to_context
from tributary.edges.lambda_http.routing import find
from tributary.edges.mcp.http import MCP

LEARN: dict[str, Any] = {
    "text": "The deploy API needs X-Batch: true",
    "situation": "deploying a service",
    "source": {"how": "observed", "ref": "run:88"},
}
RECALL: dict[str, Any] = {"query": "deploy payments"}
UNKNOWN_LESSON = "les_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def errors_of(response: httpx.Response) -> dict[str, str]:
    """Returns field -> rule of a problem, having looked at the problem's own shape."""
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == response.status_code
    assert problem["type"] == f"/docs#problem-{problem['code']}"
    assert problem["operation"] == response.headers["x-operation-id"]
    return {one["field"]: one["rule"] for one in problem["errors"]}


def app_of(function: str, memory: Door) -> App:
    """Returns the app of one function, as its entry point makes it."""
    return App(function, lambda: memory, operations=MCP if function == "mcp" else None)


class Context:
    """Stands in for Lambda's context; `left_ms` is what it says is left."""

    def __init__(self, left_ms: int = 30_000) -> None:
        self.left_ms = left_ms

    def get_remaining_time_in_millis(self) -> int:
        return self.left_ms


def event_of(
    method: str,
    path: str,
    *,
    principal: Principal | None = None,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    query: str = "",
) -> Event:
    """Returns the event that API Gateway would send for such a request by `principal`."""
    given = {"content-type": "application/json", **(headers or {})}
    request = HttpRequest(
        method=method,
        path=path,
        query_string=query,
        headers=tuple(given.items()),
        protocol="HTTP/1.1",
        source_ip="192.0.2.1",
        body=body,
    )
    event = to_event(request, find(method, path), request_id="test", at=utc_now())
    if principal:
        event["requestContext"]["authorizer"] = {"lambda": to_context(principal)}
    return event
