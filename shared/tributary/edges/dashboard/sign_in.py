"""Signing in: an agent's token for a session. The token goes through this once, and is kept nowhere."""

from __future__ import annotations

from http import HTTPStatus

from tributary.core.errors import TooManyTries, TributaryError, Unauthenticated, Unavailable
from tributary.edges.dashboard.problems import FAILED, Problem
from tributary.telemetry import Event, log

SIGN_IN = "/sign-in"
SAID = {
    "signed-out": "You are signed out.",
    "ended": "Your session is over. What was not sent before was not changed.",
}
_LONGEST = 2000


_REFUSALS: tuple[tuple[type[TributaryError], Problem], ...] = (
    (
        Unauthenticated,
        Problem(
            status=HTTPStatus.UNAUTHORIZED,
            title="No agent has this token",
            detail="It is mistyped, expired or revoked.",
            to_do="Curators make new ones on the page Agents, operators with: tributary agent create NAME --role curator",
        ),
    ),
    (
        TooManyTries,
        Problem(
            status=HTTPStatus.TOO_MANY_REQUESTS,
            title="Too many tries",
            detail="Tokens that nobody has were tried from your address again and again.",
            to_do="Wait five minutes.",
        ),
    ),
    (
        Unavailable,
        Problem(
            status=HTTPStatus.SERVICE_UNAVAILABLE,
            title="Nobody can sign in now",
            detail="The memory cannot be reached, so no token can be looked up.",
            to_do="Try again in a moment.",
        ),
    ),
)


def refusal_of(error: TributaryError) -> Problem:
    """Returns what the form says of a try that failed."""
    for kind, problem in _REFUSALS:
        if isinstance(error, kind):
            return problem
    log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
    return FAILED


def way_back(path: str) -> str:
    """Returns where a visitor goes after signing in: `path` if that is one of this host, else the first page."""
    plain = path.isascii() and path.isprintable() and "\\" not in path and len(path) <= _LONGEST
    return path if plain and path.startswith("/") and not path.startswith("//") and not path.startswith(SIGN_IN) else "/"
