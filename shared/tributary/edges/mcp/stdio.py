"""The server over standard input and output, for one client, until that goes away or the process is told to stop."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

import anyio
import anyio.to_thread
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from tributary.edges.mcp.greeting import Opening
from tributary.edges.mcp.server import make_server
from tributary.edges.mcp.session import Session
from tributary.edges.mcp.wire import Wire

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve_stdio(wire: Wire, opening: Opening, session: Session) -> None:
    """Serves the client that opened so until it has closed, or SIGINT, SIGTERM or SIGHUP comes. Call it from the main thread."""
    anyio.run(_serve, wire, opening, session)


async def _serve(wire: Wire, opening: Opening, session: Session) -> None:
    server = make_server(session)
    to_server, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, from_server = anyio.create_memory_object_stream[Any](0)
    loop = asyncio.get_running_loop()
    async with anyio.create_task_group() as group:
        for number in _SIGNALS:
            loop.add_signal_handler(number, group.cancel_scope.cancel)

        async def write() -> None:
            await _write(wire, from_server, opening.answered)
            group.cancel_scope.cancel()  # nobody listens any more

        group.start_soon(write)
        # A daemon: a read that waits for a client could not be ended.
        read = _Reading(wire, opening.line, to_server, loop)
        threading.Thread(target=read, name="tributary-stdin", daemon=True).start()
        await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()
    to_server.close()


class _Reading:
    """Hands the client's lines to the server, the next when the one before was taken, until there are no more."""

    def __init__(self, wire: Wire, first: bytes, server: MemoryObjectSendStream[Any], loop: asyncio.AbstractEventLoop) -> None:
        self._wire = wire
        self._first = first
        self._server = server
        self._loop = loop

    def __call__(self) -> None:
        line: bytes | None = self._first
        while True:
            taken = self._hand_in(line)
            try:
                asyncio.run_coroutine_threadsafe(taken, self._loop).result()
            except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError, asyncio.CancelledError):
                taken.close()
                return  # the session is over
            if line is None:
                return
            line = self._next()

    async def _hand_in(self, line: bytes | None) -> None:
        if line is None:
            await self._server.aclose()
        elif line.strip():
            await self._server.send(_message(line))

    def _next(self) -> bytes | None:
        try:
            return self._wire.read_message()
        except OSError:
            return None


async def _write(wire: Wire, from_server: MemoryObjectReceiveStream[Any], kept_back: int | str | None) -> None:
    """Writes what the server sends, but for the answer that the client has already; returns when it is not read any more."""
    async with from_server:
        async for sent in from_server:
            message = sent.message
            if kept_back is not None and getattr(message, "id", None) == kept_back and hasattr(message, "result"):
                kept_back = None
                continue
            line = message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await anyio.to_thread.run_sync(wire.write_line, line, abandon_on_cancel=True)
            except OSError:
                return


def _message(line: bytes) -> object:
    """Returns a line as the SDK takes it: a message, or the error that says why it is none."""
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
