"""The answer to `initialize`, given before the protocol's SDK is loaded, which takes most of a second.

It is what the SDK itself would answer, and a test holds the two together. Whatever is not plainly understood here is left to
the SDK. The SDK is shown the same request afterwards, so that it knows of the handshake; its own answer is then kept back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tributary import __version__
from tributary.edges.mcp.wire import Wire
from tributary.edges.mcp.words import HANDSHAKES, INSTRUCTIONS, NAME, TITLE


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The client's first line, and the id of the request in it when that is answered already."""

    line: bytes
    answered: int | str | None


def greet(wire: Wire) -> Opening | None:
    """Waits for the client's first line and answers it if that is all it takes; returns None when the client has gone.

    Call it from the main thread: a signal's handler may end the wait.
    """
    with wire.woken_by_signals():
        line = wire.read_message()
    if line is None:
        return None
    found = greeting(line)
    if found is None:
        return Opening(line=line, answered=None)
    request, answer = found
    wire.write_line(answer)
    return Opening(line=line, answered=request)


def greeting(line: bytes) -> tuple[int | str, str] | None:
    """Returns the request's id and the line that answers it, for a well-formed `initialize` of a known version; else None."""
    try:
        message = json.loads(line)
        params = message["params"]
        request, version = message["id"], params["protocolVersion"]
        client = params["clientInfo"]
        understood = (
            message["jsonrpc"] == "2.0"
            and message["method"] == "initialize"
            and type(request) in (int, str)
            and version in HANDSHAKES
            and isinstance(params["capabilities"], dict)
            and isinstance(client["name"], str)
            and isinstance(client["version"], str)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not understood:
        return None
    result = {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": NAME, "title": TITLE, "version": __version__},
        "instructions": INSTRUCTIONS,
    }
    return request, json.dumps({"jsonrpc": "2.0", "id": request, "result": result})
