"""From HTTP replies to values and errors. Pure, so that every driver, blocking or not, reads them alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tributary.client import errors
from tributary.contract.models import Problem

Model = TypeVar("Model", bound=BaseModel)

_BY_CODE: dict[str, type[errors.TributaryError]] = {
    "unsupported_media_type": errors.NotSupported,
    **{
        kind.default_code: kind
        for kind in (
            errors.InvalidRequest,
            errors.Unauthenticated,
            errors.Forbidden,
            errors.NotFound,
            errors.NotSupported,
            errors.IdempotencyConflict,
            errors.WrongStanding,
            errors.TooLarge,
            errors.NotComplete,
            errors.Unavailable,
            errors.RateLimited,
            errors.TooManyTries,
            errors.Overloaded,
            errors.TimedOut,
            errors.ModelFailed,
            errors.NotMigrated,
            errors.CodeTooOld,
            errors.NotSetUp,
            errors.ServerFailed,
            errors.BadSetting,
            errors.Corrupt,
        )
    },
}

# What a gateway or load balancer says by itself, without a problem document.
_BY_STATUS: dict[int, type[errors.TributaryError]] = {
    HTTPStatus.UNAUTHORIZED: errors.Unauthenticated,
    HTTPStatus.FORBIDDEN: errors.Forbidden,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: errors.TooLarge,
    HTTPStatus.TOO_MANY_REQUESTS: errors.Overloaded,
    HTTPStatus.BAD_GATEWAY: errors.Unavailable,
    HTTPStatus.SERVICE_UNAVAILABLE: errors.Unavailable,
    HTTPStatus.GATEWAY_TIMEOUT: errors.TimedOut,
}

_LASTING = (errors.NotMigrated, errors.CodeTooOld)
"""503s that an operator has to end; to wait for them would only hide what is wrong."""

_REFUSED_BY_AWS = (
    "AWS refuses the request before the memory sees it: whoever signs needs execute-api:Invoke on the API, and the access key,"
    " the session token, the region and this computer's clock must be right"
)

_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A reply as it came. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class NoAnswer:
    """No reply came; `reason` is for the user. `lasting` when the same request would fail again."""

    reason: str
    lasting: bool = False


def read(model: type[Model], body: bytes) -> Model:
    """Returns the reply as `model`; raises BadReply naming the first part that does not fit."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise errors.BadReply(
            f"the server's reply is not a {model.__name__} ({where or 'body'}: {first['msg']}); is the address right?"
        ) from None


def error_of(answer: Answer, *, signed: bool = False) -> errors.TributaryError:
    """Returns what the reply says went wrong. A `signed` request may have been refused by AWS itself."""
    retry_after = _retry_after(answer.headers)
    problem = _problem(answer)
    if problem is None:
        status_kind = _BY_STATUS.get(answer.status)
        if status_kind is None:
            shown = answer.headers.get("content-type", "no content type")
            return errors.BadReply(
                f"status {answer.status} came with {shown[:100]}, not with the API's problem document; is the address right?",
                status=answer.status,
            )
        detail = _REFUSED_BY_AWS if signed and status_kind in (errors.Unauthenticated, errors.Forbidden) else None
        return status_kind(detail, status=answer.status, retry_after=retry_after)
    kind = _BY_CODE.get(problem.code) or _of_family(answer.status)
    return kind(
        problem.detail or problem.title,
        code=problem.code,
        status=answer.status,
        errors=problem.errors,
        operation=problem.operation,
        retry_after=retry_after,
    )


def may_pass(error: errors.TributaryError) -> bool:
    """Tells whether the same request may succeed a little later."""
    return isinstance(error, errors.Unavailable) and not isinstance(error, _LASTING)


def _problem(answer: Answer) -> Problem | None:
    try:
        return Problem.model_validate_json(answer.body)
    except ValidationError:
        return None


def _of_family(status: int) -> type[errors.TributaryError]:
    """Returns the class for a code that this version of the SDK does not know."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return errors.ServerFailed
    if status >= HTTPStatus.BAD_REQUEST:
        return errors.InvalidRequest
    return errors.BadReply


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds in Retry-After; a date is measured from the reply's own Date, so that clocks need not agree."""
    value = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    until, sent = _date(value), _date(headers.get("date", ""))
    if until is None or sent is None:
        return None
    return max(0.0, (until - sent).total_seconds())


def _date(value: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(value)
    except ValueError:
        return None
    return found if found.tzinfo else None
