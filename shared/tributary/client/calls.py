"""One function per operation of the API: from arguments to the request to send and the way to read its reply.

Pure: nothing is sent here, so a blocking and a non-blocking client share all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, Literal, TypeVar

from tributary.client.errors import BadReply, InvalidRequest, TributaryError, broken
from tributary.client.hits import Hit, Hits
from tributary.client.ids import LessonRef, lesson_id
from tributary.client.receipts import Receipt, read_receipt
from tributary.client.replies import Answer, error_of, read
from tributary.client.values import (
    Challenge,
    Lesson,
    LessonDraft,
    Moment,
    as_evidence,
    as_lesson_ids,
    as_receipts,
    as_request,
    body_of,
    checked,
    shown_moment,
)
from tributary.contract import costs as bills
from tributary.contract import curation, limits, models
from tributary.contract import status as about
from tributary.contract.curation import RetireCause
from tributary.contract.distilling import ProposedLessonReply
from tributary.contract.models import Evidence, How, Kind, Source, Status

Result = TypeVar("Result")
Require = Literal["any", "vector"]
Method = Literal["GET", "POST", "PUT"]

_KEY = re.compile(r"[!-~]+")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[Result]):
    """One request and how to read its reply. It may be sent more than once: the key makes a repeated write harmless."""

    operation: str
    method: Method
    path: str
    read: Callable[[bytes], Result]
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Several values of a parameter are sent one after the other."""
    body: bytes | None = None
    idempotency_key: str | None = None
    elsewhere: str | None = None
    """A whole address to send to instead of the server's, to which the token is not sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers, or others than the usual ones."""
    follows: bool = False
    """Goes where the server's redirection leads, without the token."""
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


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What became of one lesson of a batch: `result`, or the `error` that it met. The other one is None."""

    result: models.LearnReply | None = None
    error: TributaryError | None = None


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
    wait: bool,
    receipts: Iterable[Receipt],
    replaces: Iterable[LessonRef],
    idempotency_key: str,
) -> Call[models.LearnReply]:
    # a server that does not know these words would refuse them
    more: dict[str, Any] = {"receipts": as_receipts(receipts), "replaces": as_lesson_ids(replaces)}
    request = checked(
        lambda: models.LearnRequest(
            text=text,
            situation=situation,
            source=_checked_source(source),
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
            wait=wait,
            **{name: value for name, value in more.items() if value},
        )
    )
    return Call(
        operation="learn",
        method="POST",
        path="/v1/lessons",
        body=body_of(request),
        idempotency_key=checked_key(idempotency_key),
        read=lambda body: read(models.LearnReply, body),
    )


def drafts(
    lessons: Iterable[LessonDraft | ProposedLessonReply | Mapping[str, object]],
) -> list[models.LessonRequest | InvalidRequest]:
    """Returns each lesson of a batch as it is sent, or what is wrong with it; raises InvalidRequest for too many."""
    found: list[models.LessonRequest | InvalidRequest] = []
    for one in lessons:
        if len(found) == limits.BATCH_LESSONS:
            raise broken("lessons", f"must be at most {limits.BATCH_LESSONS} at once; learn them in parts")
        try:
            found.append(as_request(one))
        except InvalidRequest as error:
            found.append(error)
    return found


def learn_all(
    batch: Sequence[models.LessonRequest | InvalidRequest], *, deadline_s: float | None, wait: bool, idempotency_key: str
) -> Call[list[Attempt]]:
    """Sends the lessons that are well formed; the others keep their places, with what is wrong with them."""
    documents = [
        one.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        for one in batch
        if isinstance(one, models.LessonRequest)
    ]
    request = checked(lambda: models.BatchRequest(lessons=documents, deadline_s=deadline_s, wait=wait))
    return Call(
        operation="learn_batch",
        method="POST",
        path="/v1/lessons/batch",
        body=body_of(request),
        idempotency_key=checked_key(idempotency_key),
        read=lambda body: _read_attempts(body, batch),
    )


def contest(
    lesson: LessonRef,
    text: str,
    *,
    source: Source,
    situation: str | None,
    evidence: Iterable[Evidence | Mapping[str, object]],
    rationale: str | None,
    confidence: float,
    deadline_s: float | None,
    idempotency_key: str,
) -> Call[models.LearnReply]:
    request = checked(
        lambda: models.ContestRequest(
            text=text,
            source=_checked_source(source),
            situation=situation,
            evidence=[as_evidence(one, position) for position, one in enumerate(evidence)],
            rationale=rationale,
            confidence=confidence,
            deadline_s=deadline_s,
        )
    )
    return Call(
        operation="contest",
        method="POST",
        path=f"/v1/lessons/{lesson_id(lesson)}/contest",
        body=body_of(request),
        idempotency_key=checked_key(idempotency_key),
        read=lambda body: read(models.LearnReply, body),
    )


def reinforce(lesson: LessonRef, *, receipt: Receipt | None, idempotency_key: str) -> Call[models.ReinforceReply]:
    if receipt is not None and not isinstance(receipt, Receipt):
        raise broken("receipt", "must be the receipt of the recall that served the lesson, as in hits.receipt")
    document = {} if receipt is None else {"receipt": receipt.document()}
    return Call(
        operation="reinforce",
        method="POST",
        path=f"/v1/lessons/{lesson_id(lesson)}/reinforce",
        body=json.dumps(document).encode(),
        idempotency_key=checked_key(idempotency_key),
        read=lambda body: read(models.ReinforceReply, body),
    )


def retire(lesson: LessonRef, *, cause: RetireCause, idempotency_key: str) -> Call[curation.RetiredReply]:
    request = checked(lambda: curation.RetireRequest(cause=cause))
    return Call(
        operation="retire",
        method="POST",
        path=f"/v1/lessons/{lesson_id(lesson)}/retire",
        body=body_of(request),
        idempotency_key=checked_key(idempotency_key),
        read=lambda body: read(curation.RetiredReply, body),
    )


def recall(  # noqa: PLR0913
    query: str,
    *,
    limit: int,
    kinds: Sequence[Kind],
    sources: Sequence[How],
    agent: str | None,
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
            sources=list(sources),
            agent=agent,
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


def verify(receipt: Receipt | Mapping[str, object], *, query: str) -> Call[models.VerifyReply]:
    document = receipt.document() if isinstance(receipt, Receipt) else dict(receipt)
    checked(lambda: models.VerifyRequest(receipt=document, query=query))
    return Call(
        operation="verify",
        method="POST",
        path="/v1/receipts/verify",
        body=json.dumps({"receipt": document, "query": query}).encode(),
        read=lambda body: read(models.VerifyReply, body),
    )


def lessons(  # noqa: PLR0913
    *,
    status: Status | Literal["any"] | None,
    page_size: int,
    before: str | None,
    as_of: Moment | None,
    ref: str | None,
    ref_prefix: str | None,
    mine: bool,
    kind: Kind | None,
    subject: str | None,
    tags: Mapping[str, str] | None,
    author: str | None,
) -> Call[Page]:
    asked = {
        **{"status": status, "ref": ref, "ref_prefix": ref_prefix, "mine": "true" if mine else None},
        **{"kind": kind, "subject": subject, "author": author},
    }
    query: dict[str, str | Sequence[str]] = {**page_query(page_size, before)}
    query |= {name: value for name, value in asked.items() if value is not None}
    if tags:
        query["tag"] = [_shown_tag(key, value) for key, value in tags.items()]
    return Call(operation="lessons", method="GET", path="/v1/lessons", query=_with_moment(query, as_of), read=_read_page)


def lesson(which: LessonRef, *, as_of: Moment | None) -> Call[LessonDetail]:
    return Call(
        operation="lesson",
        method="GET",
        path=f"/v1/lessons/{lesson_id(which)}",
        query=_with_moment({}, as_of),
        read=_read_detail,
    )


def me() -> Call[about.MeReply]:
    return Call(operation="me", method="GET", path="/v1/me", read=lambda body: read(about.MeReply, body))


def stats() -> Call[about.StatsReply]:
    return Call(operation="stats", method="GET", path="/v1/stats", read=lambda body: read(about.StatsReply, body))


def memory_status() -> Call[about.StatusReply]:
    return Call(operation="status", method="GET", path="/v1/status", read=lambda body: read(about.StatusReply, body))


def costs(since: date | None, until: date | None, by: bills.By) -> Call[bills.CostsReply]:
    days = {name: day.isoformat() for name, day in (("from", since), ("to", until)) if day is not None}
    return Call(
        operation="costs",
        method="GET",
        path="/v1/costs",
        query={**days, "by": by},
        read=lambda body: read(bills.CostsReply, body),
    )


def health() -> Call[models.HealthReply]:
    return Call(operation="health", method="GET", path="/health", again=False, read=lambda body: read(models.HealthReply, body))


def checked_key(key: str) -> str:
    """Returns an idempotency key that the API takes; raises InvalidRequest for another."""
    if len(key) > limits.IDEMPOTENCY_KEY_CHARACTERS or not _KEY.fullmatch(key):
        rule = f"must be 1 to {limits.IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters without spaces"
        raise broken("idempotency_key", rule)
    return key


def _checked_source(source: Source) -> Source:
    if not isinstance(source, Source):
        raise broken("source", "must say how you know, as in observed('run:88')")
    return source


def page_query(page_size: int, before: str | None) -> dict[str, str]:
    """Returns which page of a listing is asked for; raises InvalidRequest for a page of none or too many."""
    if not 1 <= page_size <= limits.RECALL_LIMIT:
        raise broken("page_size", f"must be from 1 to {limits.RECALL_LIMIT}")
    return {"limit": str(page_size)} | ({} if before is None else {"before": before})


def _shown_tag(key: str, value: str) -> str:
    if "=" in key:
        raise broken("tags", f"cannot be asked for by the key '{key}': in a query = ends the key")
    return f"{key}={value}"


def _with_moment(query: Mapping[str, str | Sequence[str]], as_of: Moment | None) -> Mapping[str, str | Sequence[str]]:
    return query if as_of is None else {**query, "as_of": shown_moment(as_of)}


def _read_hits(body: bytes) -> Hits:
    reply = read(models.RecallReply, body)
    receipt = read_receipt(body)
    if receipt.returned != len(reply.hits):
        raise BadReply(f"the server sent {len(reply.hits)} hits with a receipt for {receipt.returned}")
    return Hits([Hit.of(one, receipt) for one in reply.hits], receipt)


def _read_page(body: bytes) -> Page:
    reply = read(models.LessonsReply, body)
    return Page(lessons=tuple(reply.lessons), next=reply.next, receipt=read_receipt(body))


def _read_detail(body: bytes) -> LessonDetail:
    reply = read(models.LessonDetailReply, body)
    return LessonDetail(lesson=reply.lesson, challenges=tuple(reply.challenges), receipt=read_receipt(body))


def _read_attempts(body: bytes, batch: Sequence[models.LessonRequest | InvalidRequest]) -> list[Attempt]:
    items = read(models.BatchReply, body).items
    sent = sum(isinstance(one, models.LessonRequest) for one in batch)
    if len(items) != sent:
        raise BadReply(f"the server answered {len(items)} of {sent} lessons")
    rest = iter(items)
    return [Attempt(error=one) if isinstance(one, InvalidRequest) else _read_attempt(next(rest)) for one in batch]


def _read_attempt(item: models.BatchItemReply) -> Attempt:
    if item.problem is not None:
        return Attempt(error=error_of(Answer(status=item.status, headers={}, body=item.problem.model_dump_json().encode())))
    if item.result is None:
        raise BadReply(f"the server answered a lesson with status {item.status} and nothing else")
    return Attempt(result=item.result)
