"""What a caller hands in: sources and evidence, checked as they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tributary.client.errors import InvalidRequest
from tributary.contract.models import ChallengeReply, Evidence, FieldProblem, How, LessonReply, Source

Made = TypeVar("Made", bound=BaseModel)
Lesson = LessonReply
Challenge = ChallengeReply
Moment = int | datetime
"""A tick of the tribe's clock, or a time with offset."""


def observed(ref: str | None = None) -> Source:
    """Returns the source of a lesson that the writer saw happen; `ref` is the run, log or page that shows it."""
    return source_of("observed", ref)


def derived(ref: str | None = None) -> Source:
    """Returns the source of a lesson that the writer concluded from others."""
    return source_of("derived", ref)


def told(ref: str | None = None) -> Source:
    """Returns the source of a lesson that somebody told the writer."""
    return source_of("told", ref)


def imported(ref: str | None = None) -> Source:
    """Returns the source of a lesson taken over from a document, such as a runbook's `file#heading:line`."""
    return source_of("imported", ref)


def source_of(how: How, ref: str | None = None) -> Source:
    """Returns the source of a lesson; raises InvalidRequest for an empty or overlong `ref`."""
    return checked(lambda: Source(how=how, ref=ref), within="source")


def as_evidence(given: Evidence | Mapping[str, object], position: int) -> Evidence:
    """Returns one item of evidence; raises InvalidRequest naming its position."""
    if isinstance(given, Evidence):
        return given
    return checked(lambda: Evidence.model_validate(given), within=f"evidence.{position}")


def checked(make: Callable[[], Made], *, within: str | None = None) -> Made:
    """Returns what `make` makes; raises InvalidRequest with every field that breaks a rule, under the name `within`."""
    try:
        return make()
    except ValidationError as error:
        problems = [_problem(one, within) for one in error.errors(include_url=False, include_input=False)]
    raise InvalidRequest("; ".join(f"{one.field}: {one.rule}" for one in problems), errors=problems)


def broken(field: str, rule: str) -> InvalidRequest:
    """Returns the error of one field that breaks a rule."""
    return InvalidRequest(f"{field}: {rule}", errors=[FieldProblem(field=field, rule=rule)])


def shown_moment(when: Moment) -> str:
    """Returns `when` as the API writes it; raises InvalidRequest for a negative tick or a time without offset."""
    if isinstance(when, datetime):
        if when.utcoffset() is None:
            raise broken("as_of", "must have a time zone, as in datetime.now(UTC)")
        return when.isoformat()
    if isinstance(when, str):
        raise broken("as_of", "must be a tick or a datetime; datetime.fromisoformat() reads a time from text")
    if type(when) is not int or not 0 <= when < 2**63:
        raise broken("as_of", "must be a tick or a time with offset")
    return str(when)


def body_of(request: BaseModel) -> bytes:
    """Returns the request as JSON, without fields that say nothing."""
    return request.model_dump_json(exclude_none=True).encode()


def _problem(error: Any, within: str | None) -> FieldProblem:
    names = [str(part) for part in error["loc"] if part != "[key]"]
    field = ".".join([within, *names] if within else names) or "request"
    rule = str(error["msg"])
    return FieldProblem(field=field, rule=rule.removeprefix("Input ") if rule.startswith("Input ") else rule)
