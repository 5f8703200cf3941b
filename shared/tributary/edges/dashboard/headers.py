"""The headers that every reply of the dashboard carries, whatever it is and whoever makes it."""

from __future__ import annotations

from tributary.edges.dashboard.port import Asgi, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # not none: browsers would then hide where a form comes from
    "strict-transport-security": "max-age=31536000",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex, nofollow",
}
NO_STORE = "no-store"


class Secured:
    """An ASGI app around another one: the outermost, so that replies to what failed have the headers, too."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = False

        async def with_headers(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                given += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if b"cache-control" not in names:
                    given.append((b"cache-control", NO_STORE.encode()))
                message["headers"] = given
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except Exception:
            # The framework raises once more what it answered, and our log has: the server would log the message, too, and that
            # may quote what a lesson says or a form holds.
            if not answered:
                raise
