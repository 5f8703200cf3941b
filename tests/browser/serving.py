"""Serves an ASGI app on loopback, in a thread of its own, for as long as a block runs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn

from tributary.edges.dashboard.port import Asgi, Message, Receive, Scope, Send

STRICT = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'"
"""What a page of ours may be allowed at most."""
_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'


@contextmanager
def served(app: Asgi) -> Iterator[str]:
    """Gives the address under which the app answers, as http://127.0.0.1:port; ends when its last reply is out."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, http="h11", ws="none", log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="tributary-site")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What `Leaves` answers under a path."""

    body: str
    kind: str = "text/html"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Leaves:
    """An ASGI app of fixed replies by path, each under a strict Content-Security-Policy; anything else is 404."""

    replies: Mapping[str, Reply]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        reply = self.replies.get(scope["path"], Reply(body="There is nothing here.", kind="text/plain", status=404))
        headers = {"content-type": f"{reply.kind}; charset=utf-8", "content-security-policy": STRICT, **reply.headers}
        start: Message = {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        await send(start)
        await send({"type": "http.response.body", "body": reply.body.encode()})


def leaf(body: str, *, style: str = "", script: str = "") -> Leaves:
    """Returns an app of one sound page at / with `body` in it, and a stylesheet and script of its own."""
    page = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A leaf</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="/leaf.svg">
<link rel="stylesheet" href="/leaf.css">{'<script src="/leaf.js" defer></script>' if script else ""}</head>
<body><main><h1>A leaf</h1>{body}</main></body></html>"""
    return Leaves(
        {
            "/": Reply(body=page),
            "/leaf.css": Reply(body=style, kind="text/css"),
            "/leaf.svg": Reply(body=_ICON, kind="image/svg+xml"),
            "/leaf.js": Reply(body=script, kind="text/javascript"),
        }
    )
