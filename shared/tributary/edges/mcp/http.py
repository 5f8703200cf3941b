"""The server as streamable HTTP, without sessions: each request is answered by itself, in JSON, as the agent that sent it.

The SDK's own transport does it, driven for one exchange: what it wants from a web server is made of the event, and what it sends
becomes the reply.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any

from tributary.client import Memory
from tributary.contract import limits
from tributary.contract.models import FieldProblem
from tributary.core import ids
from tributary.core.agent import Principal
from tributary.core.errors import NotSetUp
from tributary.edges.lambda_http.body import require_json
from tributary.edges.lambda_http.in_process import URL, Functions, InProcess
from tributary.edges.lambda_http.operations.ask import Ask, Operation
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.principal import to_context
from tributary.edges.lambda_http.problems import Refused, invalid_field
from tributary.edges.lambda_http.reply import HttpReply
from tributary.edges.mcp.retries import Windowed
from tributary.edges.mcp.session import Opened, Session

_MARGIN_S = 0.5
"""Kept back of the time that is left, for telling what came of a call."""
_SHORTEST_S = 0.1
_NO_TOKEN = "none"  # noqa: S105  (the authorizer's word goes along instead)


def _mcp(ask: Ask) -> HttpReply:
    ask.query()
    principal = ask.principal
    body = _body(ask.event)
    require_json(ask.event)
    seconds = max(_SHORTEST_S, (ask.remaining_s or limits.TIMEOUT_S) - _MARGIN_S)
    try:
        import anyio

        from tributary.edges.mcp.server import make_server
    except ModuleNotFoundError as error:
        raise NotSetUp("this server has no SDK of the protocol: install 'tributary-memory[mcp]'") from error
    functions = Functions(ask.open_memory, stopping=ask.stopping)
    transport = InProcess(functions, lambda _: to_context(principal), most_s=seconds)
    with Memory(URL, _NO_TOKEN, timeout_s=seconds, transport=transport, environment={}) as memory:
        opened = _opened(memory, principal)
        session = Session(lambda _: opened, retries=Windowed(ask.now().timestamp()))
        return anyio.run(partial(_exchange, make_server(session), ask.event, body))


MCP: Mapping[str, Operation] = {"mcp": _mcp}
"""What the function `mcp` serves."""


def _opened(memory: Memory, principal: Principal) -> Opened:
    return Opened(memory=memory, agent=ids.show(ids.Prefix.AGENT, principal.agent_id), role=principal.role.value)


def _body(event: Event) -> bytes:
    body = event.get("body") or ""
    try:
        raw = base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode("utf-8")
    except (UnicodeEncodeError, binascii.Error, ValueError) as error:
        raise invalid_field("body", "must be UTF-8") from error
    if len(raw) > limits.BODY_BYTES:
        rule = f"is {len(raw)} bytes; at most {limits.BODY_BYTES} are read"
        raise Refused("too_large", f"body {rule}", errors=[FieldProblem(field="body", rule=rule)])
    return raw


async def _exchange(server: Any, event: Event, body: bytes) -> HttpReply:
    """Has the SDK's transport answer one request."""
    import anyio
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    manager = StreamableHTTPSessionManager(
        app=server, json_response=True, stateless=True, max_request_body_size=limits.BODY_BYTES
    )
    status = 500
    headers: dict[str, str] = {}
    content = bytearray()
    answered = anyio.Event()
    handed_over = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal handed_over
        if handed_over:
            await answered.wait()  # the caller is there until he has his answer
            return {"type": "http.disconnect"}
        handed_over = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"])
        elif message["type"] == "http.response.body":
            content.extend(message.get("body", b""))
            if not message.get("more_body"):
                answered.set()

    async with manager.run():
        await manager.handle_request(_scope(event), receive, send)
    kind = headers.get("content-type", "application/json")
    return HttpReply(status=status, body=content.decode("utf-8"), content_type=kind)


def _scope(event: Event) -> MutableMapping[str, Any]:
    """Returns the request as an ASGI server would describe it."""
    http = event["requestContext"]["http"]
    named = [(name.encode("latin-1"), str(value).encode("latin-1", "replace")) for name, value in event["headers"].items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": http["method"],
        "scheme": "https",
        "path": event["rawPath"],
        "raw_path": event["rawPath"].encode("utf-8"),
        "query_string": b"",
        "root_path": "",
        "headers": named,
        "client": None,
        "server": None,
        "state": {},
    }
