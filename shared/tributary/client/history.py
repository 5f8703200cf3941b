"""What happened: requests for a lesson's timeline and a tribe's changes, and how their replies are read. Pure, as `calls` is."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.client.calls import Call, page_query
from tributary.client.errors import broken
from tributary.client.ids import LessonRef, lesson_id
from tributary.client.receipts import Receipt, read_receipt
from tributary.client.replies import read
from tributary.contract import limits
from tributary.contract.history import ChainReply, ChangeReply, ChangesReply, EventReply, RulingReply, TimelineReply
from tributary.contract.models import LessonReply

Change = ChangeReply
Changes = ChangesReply


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """What happened to one lesson, oldest first. `next` is the value of `before` for earlier events, None at the beginning."""

    lesson: LessonReply
    events: tuple[EventReply, ...]
    decisions: tuple[RulingReply, ...]
    """Those that the events came of, with the receipts that their writers cited."""
    predecessors: ChainReply
    successors: ChainReply
    next: int | None
    receipt: Receipt


def timeline(which: LessonRef, *, page_size: int, before: int | None) -> Call[Timeline]:
    if before is not None and (type(before) is not int or before < 1):
        raise broken("before", "must be the `next` of an earlier page")
    return Call(
        operation="timeline",
        method="GET",
        path=f"/v1/lessons/{lesson_id(which)}/timeline",
        query=page_query(page_size, None if before is None else str(before)),
        read=_read_timeline,
    )


def changes(*, after: int, page_size: int, newest: bool = False, wait_s: int = 0) -> Call[ChangesReply]:
    if type(after) is not int or not 0 <= after < 2**63:
        raise broken("after", "must be a tick of an earlier reply, or 0")
    if not 1 <= page_size <= limits.CHANGES_LIMIT:
        raise broken("page_size", f"must be from 1 to {limits.CHANGES_LIMIT}")
    if not 0 <= wait_s <= limits.CHANGES_WAIT_S:
        raise broken("wait_s", f"must be from 0 to {limits.CHANGES_WAIT_S}")
    query = {"after": str(after), "limit": str(page_size)}
    query |= ({"newest": "true"} if newest else {}) | ({"wait_s": str(wait_s)} if wait_s else {})
    return Call(operation="changes", method="GET", path="/v1/changes", query=query, read=lambda body: read(ChangesReply, body))


def _read_timeline(body: bytes) -> Timeline:
    reply = read(TimelineReply, body)
    return Timeline(
        lesson=reply.lesson,
        events=tuple(reply.events),
        decisions=tuple(reply.decisions),
        predecessors=reply.predecessors,
        successors=reply.successors,
        next=reply.next,
        receipt=read_receipt(body),
    )
