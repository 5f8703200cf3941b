"""The session's cookie: what a browser shows instead of a token. No script can read it, and no other site has it sent."""

from __future__ import annotations

from datetime import datetime


class SessionCookie:
    """Writes and reads the cookie. `secure` where pages come over TLS: then it is bound to this host by its name, too."""

    def __init__(self, *, secure: bool, path: str) -> None:
        self._secure = secure
        self._path = "/" if secure else (path or "/")
        self.name = "__Host-tributary" if secure else "tributary"

    def read(self, header: str) -> str | None:
        """Returns the session's secret from a request's `Cookie` header, None without one."""
        # Not by http.cookies: it gives up on all of a header of which one cookie, maybe of another server of this host, is odd.
        for one in header.split(";"):
            name, _, value = one.partition("=")
            if name.strip() == self.name:
                return value.strip() or None
        return None

    def begin(self, secret: str, *, at: datetime, ends_at: datetime) -> str:
        """Returns the `Set-Cookie` header that begins a session."""
        return self._header(secret, max(0, int((ends_at - at).total_seconds())))

    def end(self) -> str:
        """Returns the `Set-Cookie` header that makes the browser forget it."""
        return self._header("", 0)

    def _header(self, value: str, max_age_s: int) -> str:
        secure = "; Secure" if self._secure else ""
        return f"{self.name}={value}; Path={self._path}; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}"
