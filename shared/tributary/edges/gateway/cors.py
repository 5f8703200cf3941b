"""Cross-origin requests, as an HTTP API with a CORS configuration answers them: an exact allow list, no wildcard."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.client.place import is_loopback

METHODS = "GET, POST, PUT"
REQUEST_HEADERS = "authorization, content-type, idempotency-key"
RESPONSE_HEADERS = "retry-after, x-operation-id"
MAX_AGE_S = 600


class Cors:
    """Knows which origins may read replies. With none, no reply says anything about origins."""

    def __init__(self, origins: Sequence[str]) -> None:
        self.origins = tuple(origins)

    def is_preflight(self, method: str, origin: str, asked_method: str) -> bool:
        """Tells whether a browser is asking for permission; never so when no origin is allowed."""
        return bool(self.origins and method == "OPTIONS" and origin and asked_method)

    def may_speak(self, origin: str) -> bool:
        """Tells whether who sent `origin` may speak the Model Context Protocol: no browser, a listed origin, or this computer.

        A page from elsewhere whose name was made to lead to this computer (DNS rebinding) is known by its origin alone.
        """
        return not origin or origin in self.origins or is_loopback(origin)

    def preflight_headers(self, origin: str) -> dict[str, str]:
        """Returns the headers of the answer to a preflight; it grants nothing to an origin that is not listed."""
        headers = self.headers(origin)
        if origin in self.origins:
            headers["Access-Control-Allow-Methods"] = METHODS
            headers["Access-Control-Allow-Headers"] = REQUEST_HEADERS
            headers["Access-Control-Max-Age"] = str(MAX_AGE_S)
        return headers

    def headers(self, origin: str) -> dict[str, str]:
        """Returns the headers that any reply to a request from `origin` gets."""
        if not self.origins:
            return {}
        headers = {"Vary": "Origin"}
        if origin in self.origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = RESPONSE_HEADERS
        return headers
