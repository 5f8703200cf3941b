"""Signing in: an agent's token for a session. The token goes through this once, and is kept nowhere."""

from __future__ import annotations

from http import HTTPStatus

from tributary.core.clock import Now
from tributary.core.errors import TooManyTries, TributaryError, Unauthenticated, Unavailable
from tributary.edges.dashboard.cookies import SessionCookie
from tributary.edges.dashboard.port import OpenDoor
from tributary.edges.dashboard.problems import FAILED, Problem
from tributary.telemetry import Event, log

SIGN_IN = "/sign-in"
SAID = {
    "signed-out": "You are signed out.",
    "ended": "Your session is over. What was not sent before was not changed.",
}
_LONGEST = 2000


class SignIn:
    """Begins sessions."""

    def __init__(self, door: OpenDoor, cookie: SessionCookie, now: Now) -> None:
        self._door = door
        self._cookie = cookie
        self._now = now

    def begin(self, token: str, *, source: str) -> str:
        """Returns the `Set-Cookie` header of a new session; raises Unauthenticated, TooManyTries or Unavailable."""
        begun = self._door().sign_in(token, source=source)
        return self._cookie.begin(begun.secret, at=self._now(), ends_at=begun.ends_at)

    def problem(self, error: TributaryError) -> Problem:
        """Returns what the form says of a try that failed."""
        if isinstance(error, Unauthenticated):
            return Problem(
                status=HTTPStatus.UNAUTHORIZED,
                title="No agent has this token",
                detail="It is mistyped, expired or revoked.",
                to_do="Curators make new ones on the page Agents, operators with: tributary agent create NAME --role curator",
            )
        if isinstance(error, TooManyTries):
            return Problem(
                status=HTTPStatus.TOO_MANY_REQUESTS,
                title="Too many tries",
                detail="Tokens that nobody has were tried from your address again and again.",
                to_do="Wait five minutes.",
            )
        if isinstance(error, Unavailable):
            return Problem(
                status=HTTPStatus.SERVICE_UNAVAILABLE,
                title="Nobody can sign in now",
                detail="The memory cannot be reached, so no token can be looked up.",
                to_do="Try again in a moment.",
            )
        log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
        return FAILED


def way_back(path: str) -> str:
    """Returns where a visitor goes after signing in: `path` if that is one of this host, else the first page."""
    plain = path.isascii() and path.isprintable() and "\\" not in path and len(path) <= _LONGEST
    return path if plain and path.startswith("/") and not path.startswith("//") and not path.startswith(SIGN_IN) else "/"
