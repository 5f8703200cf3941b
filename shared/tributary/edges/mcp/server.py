"""The server, made with the protocol's official SDK: it lists the tools of the caller's role, and calls them."""

from __future__ import annotations

import logging
from typing import Any

import anyio.to_thread
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from tributary import __version__
from tributary.edges.mcp import words
from tributary.edges.mcp.catalogue import TOOLS, tools_of
from tributary.edges.mcp.session import Failed, Session
from tributary.edges.mcp.tool import Tool as OurTool

CODE = "tributary/code"
"""Where the result of a failed call carries the code of the error, in `_meta`."""


def make_server(session: Session) -> Server[Any]:
    """Returns the server of one session. Each call blocks a thread, not the loop."""
    # The SDK logs what clients send that is amiss, contents included; it is told to the client, and nobody else's business.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        role = await anyio.to_thread.run_sync(session.role, abandon_on_cancel=True)
        return ListToolsResult(tools=[described(tool) for tool in tools_of(role)])

    async def call_tool(_: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(code=INVALID_PARAMS, message="There is no such tool; tools/list names them.")
        # A caller who gives up is not waited for; the call goes on, and its retry is given the same key.
        done = await anyio.to_thread.run_sync(session.call, tool, params.arguments or {}, abandon_on_cancel=True)
        done.told()
        outcome = done.outcome
        if isinstance(outcome, Failed):
            text = TextContent(type="text", text=outcome.text)
            return CallToolResult(content=[text], is_error=True, _meta={CODE: outcome.code})
        content = [TextContent(type="text", text=outcome.text)]
        return CallToolResult(content=list(content), structured_content=outcome.result.model_dump(mode="json"))

    return Server(
        words.NAME,
        version=__version__,
        title=words.TITLE,
        instructions=words.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def described(tool: OurTool[Any]) -> Tool:
    """Returns a tool as clients are told of it."""
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )
