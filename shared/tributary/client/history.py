"""What happened: a lesson's timeline, and the feed of a tribe's changes, followed as long as its reader likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tributary.client.calls import Call, page_query
from tributary.client.curation import Run
from tributary.client.errors import BadReply, TributaryError, broken
from tributary.client.ids import LessonRef, lesson_id
from tributary.client.receipts import Receipt, read_receipt
from tributary.client.replies import may_pass, read
from tributary.contract import limits
from tributary.contract.history import ChainReply, ChangeReply, ChangesReply, EventReply, RulingReply, TimelineReply
from tributary.contract.models import LessonReply

Change = ChangeReply
Changes = ChangesReply

_PAUSE_S = 1.0
"""Between two questions of somebody who follows, where the server lets nobody wait."""
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


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


def changes(*, after: int, page_size: int, wait_s: int) -> Call[ChangesReply]:
    if type(after) is not int or not 0 <= after < 2**63:
        raise broken("after", "must be a tick of an earlier reply, or 0")
    if not 1 <= page_size <= limits.CHANGES_LIMIT:
        raise broken("page_size", f"must be from 1 to {limits.CHANGES_LIMIT}")
    query = {"after": str(after), "limit": str(page_size)} | ({"wait_s": str(wait_s)} if wait_s else {})
    return Call(operation="changes", method="GET", path="/v1/changes", query=query, read=lambda body: read(ChangesReply, body))


class Feed:
    """Asks for changes page by page. Whoever follows is held by the server until there are some, `longest_s` at most."""

    def __init__(
        self,
        run: Run,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        longest_s: float,
    ) -> None:
        self._run = run
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._wait_s = int(min(limits.CHANGES_WAIT_S, longest_s))

    def pages(self, after: int, *, follow: bool, page_size: int) -> Iterator[ChangesReply]:
        """Yields pages that hold something, for ever or up to the present."""
        failures = 0
        while True:
            asked_at = self._clock()
            try:
                page = self._run(changes(after=after, page_size=page_size, wait_s=self._wait_s if follow else 0))
            except TributaryError as error:
                if not (follow and may_pass(error)):
                    raise
                failures += 1
                self._back_off(failures, error)
                continue
            failures = 0
            if page.tick < after or (page.more and page.tick == after):
                raise BadReply(f"the server's page after tick {after} ends at {page.tick}")
            if page.changes:
                yield page
            after = page.tick
            if page.more:
                continue
            if not follow:
                return
            if not page.changes and (left_s := asked_at + _PAUSE_S - self._clock()) > 0:
                self._sleep(left_s * (0.5 + 0.5 * self._jitter()))

    def _back_off(self, failures: int, error: TributaryError) -> None:
        wait_s = min(_FIRST_WAIT_S * 2 ** min(failures - 1, 10), _LONGEST_WAIT_S)
        self._sleep((error.retry_after or 0.0) + wait_s * (0.5 + 0.5 * self._jitter()))


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
