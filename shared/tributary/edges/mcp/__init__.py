"""The Model Context Protocol: the memory as tools, over stdio and as streamable HTTP, written over the SDK alone.

words, greeting, wire    what answers `initialize` before anything else is loaded
reading, writing, ...    the tools, each a description, types and a call of the memory
session, retries, late   one agent's calls: the memory that they go to, and the keys that make a repeated one harmless
server                   the protocol's own SDK
stdio, http              its two transports
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tributary.edges.lambda_http.port import Handler

__all__ = ["mcp_handler"]


def mcp_handler() -> Handler:
    """Returns the handler of the Lambda function `mcp`, which serves the protocol over HTTP."""
    # Imported when the function's module is: Lambda gives the init phase a whole CPU, whatever the function is sized for.
    import_module("tributary.edges.mcp.server")
    from tributary.edges.lambda_http.entry import handler_for
    from tributary.edges.mcp.http import MCP

    return handler_for("mcp", operations=MCP)
