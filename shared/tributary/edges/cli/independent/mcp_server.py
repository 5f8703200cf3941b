"""The road over an MCP server for PostgreSQL: a program of somebody else's that runs beside this one and speaks on its streams.

It takes one text of SQL and binds nothing, so what is sent is made by `catalogue.rendered` from ids and ticks alone. It gets
none of our environment but PATH, HOME and the like: no token, no setting. What it says on standard error may hold its URL, and
is not shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tributary.edges.cli.independent.catalogue import Ask, Row, Value, rendered
from tributary.edges.cli.independent.roads import TIMEOUT_S, Answer, Cause, is_gone, through_to_the_end

if TYPE_CHECKING:
    from mcp import ClientSession


class McpServer:
    """The server that a command starts, as an array of arguments; no shell reads it."""

    channel = "mcp"

    def __init__(self, command: Sequence[str], *, tool: str, timeout_s: float = TIMEOUT_S) -> None:
        self.tool = tool
        self._command = command
        self._timeout_s = timeout_s

    def answers(self, asked: Sequence[Ask]) -> list[Answer]:
        import anyio

        return anyio.run(self._converse, asked)

    async def _converse(self, asked: Sequence[Ask]) -> list[Answer]:
        found: list[Answer] = []
        try:
            async with AsyncExitStack() as stack:
                session = await self._open(stack)
                for one in asked:
                    found.append(await self._answer(session, one))
                    if is_gone(found[-1]):
                        break
        except ModuleNotFoundError:
            raise
        except Exception as error:  # also while it closes, which makes no answer less true
            if len(found) < len(asked) and not (found and is_gone(found[-1])):
                found.append(_cause(error))
        return through_to_the_end(asked, found) if len(found) < len(asked) else found

    async def _open(self, stack: AsyncExitStack) -> ClientSession:
        import anyio
        from mcp import ClientSession, StdioServerParameters, stdio_client

        silence = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  (the stack closes it)
        program, *arguments = self._command
        server = StdioServerParameters(command=program, args=arguments)
        streams = await stack.enter_async_context(stdio_client(server, errlog=silence))
        # The session answers no request of the server's: it offers no sampling, no elicitation and no roots.
        session = await stack.enter_async_context(ClientSession(*streams, read_timeout_seconds=self._timeout_s))
        with anyio.fail_after(self._timeout_s):
            await session.initialize()
        return session

    async def _answer(self, session: ClientSession, asked: Ask) -> Answer:
        try:
            result = await session.call_tool(self.tool, {"sql": rendered(asked)})
        except Exception as error:
            return _cause(error)
        texts = [one.text for one in getattr(result, "content", ()) if one.type == "text"]
        if getattr(result, "is_error", True):
            return Cause.FAILED
        return _rows(texts)


def _rows(texts: Sequence[str]) -> Answer:
    """Returns the rows that the one text of a result holds as JSON."""
    try:
        (text,) = texts
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return Cause.BAD_ANSWER
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return Cause.BAD_ANSWER
    return [_row(row) for row in rows]


def _row(row: dict[str, Any]) -> Row:
    return {name: _value(value) for name, value in row.items()}


def _value(value: object) -> Value:
    return value if value is None or isinstance(value, str | int) else ""  # which no column may be


def _cause(error: BaseException) -> Cause:
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    if isinstance(error, BaseExceptionGroup):
        return _cause(error.exceptions[0])
    if isinstance(error, TimeoutError):
        return Cause.TIMED_OUT
    if isinstance(error, MCPError):
        known = {REQUEST_TIMEOUT: Cause.TIMED_OUT, CONNECTION_CLOSED: Cause.UNREACHABLE}
        return known.get(error.error.code, Cause.FAILED)
    return Cause.UNREACHABLE if isinstance(error, OSError) else Cause.FAILED
