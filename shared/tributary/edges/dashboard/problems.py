"""What a visitor is told when a page cannot be shown, or a form was refused. Never more than the API itself says."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from tributary.client import errors


@dataclass(frozen=True, kw_only=True)
class Problem:
    """`to_do` is what the visitor can do about it; `again` tells whether to look again may help."""

    status: HTTPStatus
    title: str
    detail: str
    to_do: str
    again: bool = False


NOT_HERE = Problem(
    status=HTTPStatus.NOT_FOUND,
    title="There is nothing here",
    detail="No page has this address.",
    to_do="Take one from the menu.",
)
FAILED = Problem(
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    title="This page could not be made",
    detail="Something failed that nobody foresaw. Nothing can be told from that about what the tribe believes.",
    to_do="The service's log tells more.",
    again=True,
)
_UNKNOWN = "Nothing can be told meanwhile: this does not mean that nothing is known."
AWAY = Problem(
    status=HTTPStatus.SERVICE_UNAVAILABLE,
    title="The memory cannot be asked now",
    detail=f"Its database does not answer, so nobody's session can be looked up. {_UNKNOWN}",
    to_do="Look again in a moment.",
    again=True,
)
_WHETHER = "Whether the form was acted on cannot be told, either: look how it stands before you send it again."
SESSION_OVER = Problem(
    status=HTTPStatus.UNAUTHORIZED,
    title="Nothing was changed",
    detail="Your session is over.",
    to_do="Sign in again, open the page, and send the form from there.",
)
STALE_FORM = Problem(
    status=HTTPStatus.FORBIDDEN,
    title="Nothing was changed",
    detail="The form was not one of your session's pages, or that page is from an earlier session.",
    to_do="Open the page again and send the form from there.",
)
TOO_LARGE = Problem(
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    title="Nothing was changed",
    detail="The form holds more than is taken.",
    to_do="Shorten what it says.",
)
TOO_LONG = Problem(
    status=HTTPStatus.REQUEST_URI_TOO_LONG,
    title="This address says too much",
    detail="It has more parts than any page takes.",
    to_do=NOT_HERE.to_do,
)
_TITLES = (
    (errors.NotFound, HTTPStatus.NOT_FOUND, "There is no such thing in this tribe", "Was it mistyped, or of another tribe?"),
    (errors.Forbidden, HTTPStatus.FORBIDDEN, "Your role does not allow this", "Ask a curator of the tribe."),
    (errors.InvalidRequest, HTTPStatus.BAD_REQUEST, "This breaks a rule", "Put it right and send it again."),
    (
        errors.WrongStanding,
        HTTPStatus.CONFLICT,
        "As things stand, this cannot be done",
        "Look how it stands now.",
    ),
    (
        errors.IdempotencyConflict,
        HTTPStatus.CONFLICT,
        "This form was sent before",
        "Open the page again, and look what came of it.",
    ),
    (errors.TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "This is too large", "Shorten it and send it again."),
    (errors.RateLimited, HTTPStatus.TOO_MANY_REQUESTS, "Too much at once", "Wait a moment, then send it again."),
    (errors.NotSetUp, HTTPStatus.NOT_IMPLEMENTED, "Nothing is set up for this", "Ask the operator."),
)


def problem_of(error: errors.TributaryError, *, sent: bool = False) -> Problem:
    """Returns what is told of an error of the memory; `sent` when it answers a form."""
    for kind, status, title, to_do in _TITLES:
        if isinstance(error, kind):
            return Problem(status=status, title=title, detail=_detail(error), to_do=to_do)
    if isinstance(error, errors.Unavailable):
        return Problem(
            status=HTTPStatus.SERVICE_UNAVAILABLE,
            title=AWAY.title,
            detail=f"{_reason(error).removesuffix('.')}. {_UNKNOWN}",
            to_do=_WHETHER if sent else "Look again in a moment; if it stays so, the status tells why.",
            again=True,
        )
    return FAILED


def _reason(error: errors.Unavailable) -> str:
    # What the SDK says of a request without a reply is about an address, which in this process is none.
    return "It did not answer in time" if isinstance(error, errors.Unreachable) else error.detail


def _detail(error: errors.TributaryError) -> str:
    rules = [f"{one.field} {one.rule}" for one in error.errors]
    return "; ".join(rules) or error.detail
