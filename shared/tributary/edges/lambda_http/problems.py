"""From an exception to problem+json (RFC 9457). Codes and statuses come from `contract.problems` and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tributary.contract.models import FieldProblem, Problem
from tributary.contract.problems import PROBLEMS, ProblemKind
from tributary.core.errors import InvalidRequest, RateLimited, TributaryError
from tributary.edges.lambda_http.reply import HttpReply

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "/docs#problem-"
"""Problem types are places in the API's own description."""


class Refused(Exception):
    """The edge itself refuses a request; `code` is one of `contract.problems`."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        super().__init__(f"{code}: {detail}")


def invalid(*errors: FieldProblem) -> Refused:
    """Returns the refusal of a request whose fields break rules."""
    first = f"{errors[0].field} {errors[0].rule}"
    more = len(errors) - 1
    return Refused("invalid_request", f"{first} (and {more} more)" if more else first, errors=errors)


def invalid_field(field: str, rule: str) -> Refused:
    return invalid(FieldProblem(field=field, rule=rule))


def code_of(error: Exception) -> str:
    """Returns the code under which `error` is reported; `internal` when nobody foresaw it."""
    if isinstance(error, (Refused, TributaryError)) and error.code in PROBLEMS:
        return error.code
    return "internal"


def problem_of(error: Exception, *, operation: str | None) -> Problem:
    """Returns the problem that a request, or one item of a batch, ended in. What went wrong inside the server stays inside."""
    kind = PROBLEMS[code_of(error)]
    return Problem(
        type=TYPE_PREFIX + kind.code,
        title=kind.title,
        status=kind.status,
        code=kind.code,
        detail=_detail(error, kind),
        errors=list(_errors(error)),
        operation=operation,
    )


def problem_reply(error: Exception, *, operation: str | None) -> HttpReply:
    """Returns the reply to a request that ended in `error`."""
    kind = PROBLEMS[code_of(error)]
    headers = dict(error.headers) if isinstance(error, Refused) else {}
    if kind.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s if isinstance(error, RateLimited) else kind.retry_after_s)
    if kind.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="tributary"'
    return HttpReply(
        status=kind.status,
        body=problem_of(error, operation=operation).model_dump_json(),
        content_type=CONTENT_TYPE,
        headers=headers,
    )


def _detail(error: Exception, kind: ProblemKind) -> str:
    if kind.status == 500:
        return f"{kind.title}; the server's log tells more under the operation's id."
    if isinstance(error, Refused):
        return error.detail
    # Past 500 the class's own words: a detail may hold a host name or a driver's message.
    if isinstance(error, TributaryError) and kind.status < 500:
        return error.detail
    return type(error).__doc__ or kind.title


def _errors(error: Exception) -> Sequence[FieldProblem]:
    if isinstance(error, Refused):
        return error.errors
    if isinstance(error, InvalidRequest):
        return (FieldProblem(field=error.field, rule=error.rule),)
    return ()
