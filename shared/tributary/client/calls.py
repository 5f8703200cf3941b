"""One function per operation of the API: from arguments to the request to send and the way to read its reply.

Pure: nothing is sent here, so a blocking and a non-blocking client share all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from tributary.client.errors import BadReply
from tributary.client.hits import Hit, Hits
from tributary.client.receipts import Receipt, read_receipt
from tributary.client.replies import read
from tributary.client.values import Challenge, Lesson, Moment, as_evidence, body_of, broken, checked, shown_moment
from tributary.contract import limits, models
from tributary.contract.models import Evidence, Kind, Source, Status

Result = TypeVar("Result")
Require = Literal["any", "vector"]

_LESSON_ID = re.compile(r"les_[0-9a-f]{32}")
_KEY = re.compile(r"[!-~]+")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[Result]):
    """One request and how to read its reply. It may be sent more than once: the key makes a repeated write harmless."""

    operation: str
    method: Literal["GET", "POST"]
    path: str
    read: Callable[[bytes], Result]
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    idempotency_key: str | None = None
    again: bool = True
    """False when a failure is itself the answer."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some lessons, newest first, the receipt of their search, and the cursor of the next page."""

    lessons: tuple[Lesson, ...]
    next: str | None
    receipt: Receipt


@dataclass(frozen=True, kw_only=True)
class LessonDetail:
    """One lesson, what speaks against it, and the receipt of its look-up."""

    lesson: Lesson
    challenges: tuple[Challenge, ...]
    receipt: Receipt


def learn(  # noqa: PLR0913
    text: str,
    *,
    situation: str,
    source: Source,
    kind: Kind,
    subject: str | None,
    tags: Mapping[str, str] | None,
    evidence: Iterable[Evidence | Mapping[str, object]],
    rationale: str | None,
    confidence: float,
    valid_from: datetime | None,
    valid_until: datetime | None,
    keep_until: datetime | None,
    deadline_s: float | None,
    idempotency_key: str,
) -> Call[models.LearnReply]:
    if not isinstance(source, Source):
        raise broken("source", "must say how you know, as in observed('run:88')")
    request = checked(
        lambda: models.LearnRequest(
            text=text,
            situation=situation,
            source=source,
            kind=kind,
            subject=subject,
            tags=dict(tags or {}),
            evidence=[as_evidence(one, position) for position, one in enumerate(evidence)],
            rationale=rationale,
            confidence=confidence,
            valid_from=valid_from,
            valid_until=valid_until,
            keep_until=keep_until,
            deadline_s=deadline_s,
        )
    )
    return Call(
        operation="learn",
        method="POST",
        path="/v1/lessons",
        body=body_of(request),
        idempotency_key=_checked_key(idempotency_key),
        read=lambda body: read(models.LearnReply, body),
    )


def reinforce(lesson: str | Lesson | Hit, *, idempotency_key: str) -> Call[models.ReinforceReply]:
    return Call(
        operation="reinforce",
        method="POST",
        path=f"/v1/lessons/{lesson_id(lesson)}/reinforce",
        body=b"{}",
        idempotency_key=_checked_key(idempotency_key),
        read=lambda body: read(models.ReinforceReply, body),
    )


def recall(
    query: str,
    *,
    limit: int,
    kinds: Sequence[Kind],
    subject: str | None,
    tags: Mapping[str, str] | None,
    min_confidence: float,
    as_of: Moment | None,
    at_least: int | None,
    include_stale: bool,
    require: Require,
) -> Call[Hits]:
    if as_of is not None:
        shown_moment(as_of)
    request = checked(
        lambda: models.RecallRequest(
            query=query,
            limit=limit,
            kinds=list(kinds),
            subject=subject,
            tags=dict(tags or {}),
            min_confidence=min_confidence,
            as_of=as_of,
            at_least=at_least,
            include_stale=include_stale,
            require=require,
        )
    )
    return Call(operation="recall", method="POST", path="/v1/recall", body=body_of(request), read=_read_hits)


def lessons(*, status: Status | Literal["any"] | None, page_size: int, before: str | None, as_of: Moment | None) -> Call[Page]:
    if not 1 <= page_size <= limits.RECALL_LIMIT:
        raise broken("page_size", f"must be from 1 to {limits.RECALL_LIMIT}")
    query = {"limit": str(page_size)}
    if status is not None:
        query["status"] = status
    if before is not None:
        query["before"] = before
    return Call(operation="lessons", method="GET", path="/v1/lessons", query=_with_moment(query, as_of), read=_read_page)


def lesson(which: str | Lesson | Hit, *, as_of: Moment | None) -> Call[LessonDetail]:
    return Call(
        operation="lesson",
        method="GET",
        path=f"/v1/lessons/{lesson_id(which)}",
        query=_with_moment({}, as_of),
        read=_read_detail,
    )


def health() -> Call[models.HealthReply]:
    return Call(operation="health", method="GET", path="/health", again=False, read=lambda body: read(models.HealthReply, body))


def lesson_id(which: str | Lesson | Hit) -> str:
    """Returns the id of a lesson; raises InvalidRequest for a text that is none, so that no path is made of it."""
    given = which if isinstance(which, str) else getattr(which, "id", None)
    if not isinstance(given, str) or not _LESSON_ID.fullmatch(given):
        raise broken("lesson", "must be a lesson, a hit, or an id that looks like les_ and 32 hexadecimal digits")
    return given


def _checked_key(key: str) -> str:
    if len(key) > limits.IDEMPOTENCY_KEY_CHARACTERS or not _KEY.fullmatch(key):
        rule = f"must be 1 to {limits.IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters without spaces"
        raise broken("idempotency_key", rule)
    return key


def _with_moment(query: dict[str, str], as_of: Moment | None) -> dict[str, str]:
    return query if as_of is None else {**query, "as_of": shown_moment(as_of)}


def _read_hits(body: bytes) -> Hits:
    reply = read(models.RecallReply, body)
    receipt = read_receipt(body)
    if receipt.returned != len(reply.hits):
        raise BadReply(f"the server sent {len(reply.hits)} hits with a receipt for {receipt.returned}")
    return Hits([Hit.of(one) for one in reply.hits], receipt)


def _read_page(body: bytes) -> Page:
    reply = read(models.LessonsReply, body)
    return Page(lessons=tuple(reply.lessons), next=reply.next, receipt=read_receipt(body))


def _read_detail(body: bytes) -> LessonDetail:
    reply = read(models.LessonDetailReply, body)
    return LessonDetail(lesson=reply.lesson, challenges=tuple(reply.challenges), receipt=read_receipt(body))
