"""What a caller hands in: sources, evidence and drafts, checked before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tributary.client.errors import InvalidRequest, broken
from tributary.client.ids import LessonRef, lesson_id
from tributary.client.receipts import Receipt
from tributary.contract.distilling import ProposedLessonReply
from tributary.contract.models import ChallengeReply, Evidence, FieldProblem, How, Kind, LessonReply, LessonRequest, Source

Made = TypeVar("Made", bound=BaseModel)
Lesson = LessonReply
Challenge = ChallengeReply
Moment = int | datetime
"""A tick of the tribe's clock, or a time with offset."""


@dataclass(frozen=True, kw_only=True)
class LessonDraft:
    """A lesson of a batch: the fields that `Memory.learn` takes. Nothing is checked before it is learned."""

    text: str
    situation: str
    source: Source
    kind: Kind = "gotcha"
    subject: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    evidence: Iterable[Evidence | Mapping[str, object]] = ()
    rationale: str | None = None
    confidence: float = 0.7
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    keep_until: datetime | None = None
    receipts: Iterable[Receipt] = ()
    replaces: Iterable[LessonRef] = ()


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


def as_receipts(given: Iterable[Receipt]) -> list[dict[str, object]]:
    """Returns receipts as they were signed; raises InvalidRequest naming the position of what is none."""
    if isinstance(given, Receipt):
        raise broken("receipts", "must be a list of receipts, as in [hits.receipt]")
    found = []
    for position, one in enumerate(given):
        if not isinstance(one, Receipt):
            raise broken(f"receipts.{position}", "must be the receipt of a recall, as in hits.receipt")
        found.append(one.document())
    return found


def as_lesson_ids(given: Iterable[LessonRef]) -> list[str]:
    """Returns the ids of lessons; raises InvalidRequest for one that is none."""
    if isinstance(given, str):
        raise broken("replaces", "must be a list of lessons or their ids")
    return [lesson_id(one) for one in given]


def as_request(given: LessonDraft | ProposedLessonReply | Mapping[str, object]) -> LessonRequest:
    """Returns one lesson of a batch as it is sent; raises InvalidRequest naming every field that breaks a rule."""
    if isinstance(given, LessonDraft):
        said = {one.name: getattr(given, one.name) for one in fields(LessonDraft)}
    elif isinstance(given, ProposedLessonReply):
        said = given.model_dump(exclude_none=True)
    elif isinstance(given, Mapping):
        said = dict(given)
    else:
        raise broken("lesson", "must be a LessonDraft, a proposed lesson, or a mapping of the fields that learn() takes")
    stated = {name: value for name, value in said.items() if value is not None}
    tags = stated.get("tags")
    if isinstance(tags, Mapping):
        stated["tags"] = dict(tags)
    evidence = stated.get("evidence")
    if isinstance(evidence, Iterable) and not isinstance(evidence, str | Mapping):
        stated["evidence"] = [as_evidence(one, position) for position, one in enumerate(evidence)]
    if receipts := stated.pop("receipts", ()):
        stated["receipts"] = as_receipts(receipts)
    if replaces := stated.pop("replaces", ()):
        stated["replaces"] = as_lesson_ids(replaces)
    return checked(lambda: LessonRequest.model_validate(stated))


def checked(make: Callable[[], Made], *, within: str | None = None) -> Made:
    """Returns what `make` makes; raises InvalidRequest with every field that breaks a rule, under the name `within`."""
    try:
        return make()
    except ValidationError as error:
        problems = [_problem(one, within) for one in error.errors(include_url=False, include_input=False)]
    raise InvalidRequest("; ".join(f"{one.field}: {one.rule}" for one in problems), errors=problems)


def shown_moment(when: Moment, field: str = "as_of") -> str:
    """Returns `when` as the API writes it; raises InvalidRequest for a negative tick or a time without offset."""
    if isinstance(when, datetime):
        if when.utcoffset() is None:
            raise broken(field, "must have a time zone, as in datetime.now(UTC)")
        return when.isoformat()
    if isinstance(when, str):
        raise broken(field, "must be a tick or a datetime; datetime.fromisoformat() reads a time from text")
    if type(when) is not int or not 0 <= when < 2**63:
        raise broken(field, "must be a tick or a time with offset")
    return str(when)


def body_of(request: BaseModel) -> bytes:
    """Returns the request as JSON, without fields that say nothing."""
    return request.model_dump_json(exclude_none=True, exclude_unset=True).encode()


def _problem(error: Any, within: str | None) -> FieldProblem:
    names = [str(part) for part in error["loc"] if part != "[key]"]
    field = ".".join([within, *names] if within else names) or "request"
    rule = str(error["msg"])
    return FieldProblem(field=field, rule=rule.removeprefix("Input ") if rule.startswith("Input ") else rule)
