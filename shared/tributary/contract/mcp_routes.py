"""The route of the Model Context Protocol: its streamable HTTP transport, without sessions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tributary.contract.route import Route


class McpMessage(BaseModel):
    """One JSON-RPC message of the protocol. Its specification says what there is; docs/mcp.md, which tools."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    jsonrpc: Literal["2.0"]
    method: str = Field(description="As `tools/list` or `tools/call`.")
    id: int | str | None = Field(default=None, description="Left out by a notification, which is answered with 202 and nothing.")
    params: dict[str, Any] = {}


MCP: tuple[Route, ...] = (
    Route(
        operation="mcp",
        method="POST",
        path="/mcp",
        function="mcp",
        role="reader",
        summary="Speak the Model Context Protocol (streamable HTTP, stateless)",
        request=McpMessage,
        reply=None,
    ),
)
