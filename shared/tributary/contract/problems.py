"""Error codes and the HTTP status of each: the one table of both."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProblemKind:
    """`retry_after_s` is sent as Retry-After when the same request may succeed later."""

    code: str
    status: int
    title: str
    retry_after_s: int | None = None


_KINDS = (
    ProblemKind(code="invalid_request", status=400, title="The request breaks a rule"),
    ProblemKind(code="unauthenticated", status=401, title="No known token"),
    ProblemKind(code="forbidden", status=403, title="The role does not allow this"),
    ProblemKind(code="not_found", status=404, title="There is no such thing"),
    ProblemKind(code="method_not_allowed", status=405, title="The route has no such method"),
    ProblemKind(code="idempotency_conflict", status=409, title="The idempotency key was used for another request"),
    ProblemKind(code="wrong_standing", status=409, title="What is there does not allow this"),
    ProblemKind(code="too_large", status=413, title="The request is too large"),
    ProblemKind(code="unsupported_media_type", status=415, title="The body must be application/json"),
    ProblemKind(code="rate_limited", status=429, title="Too much was written", retry_after_s=1),
    ProblemKind(code="too_many_tries", status=429, title="Too many sign-ins failed", retry_after_s=60),
    ProblemKind(code="model_failed", status=503, title="A model gave no usable answer", retry_after_s=5),
    ProblemKind(code="overloaded", status=503, title="It could not be settled in time", retry_after_s=1),
    ProblemKind(code="unavailable", status=503, title="What the server needs cannot be reached", retry_after_s=2),
    ProblemKind(code="timed_out", status=503, title="The request took too long", retry_after_s=1),
    ProblemKind(code="not_migrated", status=503, title="The database is not migrated", retry_after_s=30),
    ProblemKind(code="code_too_old", status=503, title="The server is older than its database", retry_after_s=30),
    ProblemKind(code="bad_setting", status=500, title="The server is misconfigured"),
    ProblemKind(code="not_set_up", status=501, title="Nothing is set up for this"),
    ProblemKind(code="not_complete", status=409, title="The search was not complete"),
    ProblemKind(code="corrupt", status=500, title="Stored data is not what it should be"),
    ProblemKind(code="internal", status=500, title="Something unexpected happened"),
)

PROBLEMS: dict[str, ProblemKind] = {kind.code: kind for kind in _KINDS}
