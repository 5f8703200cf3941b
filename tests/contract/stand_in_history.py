"""What happened, for tests of the HTTP edge: it tells one thing of each sort, and waits as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from tests.unit import core_made as made
from tributary.core.agent import Principal
from tributary.core.decision import Outcome
from tributary.core.diff import BeliefChange, Diff, How
from tributary.core.history import Chain, Change, Changes, Citation, Happening, Link, Occurrence, Ruling, Timeline
from tributary.core.ids import new_id
from tributary.core.lesson import Instant, Kind, Status
from tributary.core.receipt import Coverage, Receipt
from tributary.recall import Historian

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Note(Protocol):
    def __call__(self, name: str, **given: object) -> None: ...


class StandInHistory(Historian):
    """Has one event, one decision and a lesson before and after; `while_waiting` runs where the real one would wait."""

    def __init__(self, note: Note, while_waiting: Callable[[threading.Event], object]) -> None:
        object.__setattr__(self, "note", note)
        object.__setattr__(self, "while_waiting", while_waiting)

    note: Note
    while_waiting: Callable[[threading.Event], object]

    def timeline(self, principal: Principal, lesson_id: UUID, *, limit: int = 100, before: int | None = None) -> Timeline:
        self.note("timeline", principal=principal, lesson_id=lesson_id, limit=limit, before=before)
        return Timeline(
            lesson=made.lesson(),
            confidence=0.7,
            events=(occurrence(),),
            decisions=(
                Ruling(
                    decision_id=new_id(),
                    tick=2,
                    outcome=Outcome.LEARNED,
                    reason="nothing speaks against it",
                    receipts=(citation(),),
                ),
            ),
            before=Chain(links=(_link(),), more=False),
            after=Chain(links=(), more=False),
            next_before=None,
            receipt=made.receipt(key="k1", signature="00"),
        )

    def changes(
        self,
        principal: Principal,
        *,
        after: int = 0,
        limit: int = 100,
        newest: bool = False,
        wait_s: float = 0.0,
        stop: threading.Event | None = None,
    ) -> Changes:
        self.note("changes", principal=principal, after=after, limit=limit, newest=newest, wait_s=wait_s)
        if wait_s:
            self.while_waiting(stop or threading.Event())
        change = Change(
            occurrence=occurrence(), lesson_id=UUID(int=100), kind=Kind.GOTCHA, subject=None, text="needs X-Batch", held=False
        )
        return Changes(changes=(change,), after=after, tick=2, clock=2)


def occurrence(event: Happening = Happening.LEARNED) -> Occurrence:
    """Returns an event of tick 2 that nothing but itself is known of."""
    return Occurrence(
        tick=2,
        at=AT,
        event=event,
        status=Status.ACTIVE,
        by="author",
        decision_id=new_id(),
        disputes=(new_id(),),
        ending=None,
        cause=None,
        other=None,
        successor=None,
        receipt=None,
        since=None,
        space=None,
    )


def diff_of(receipt: Receipt) -> Diff:
    """Returns a difference of two changes: one that an event brought, and one that time did."""
    began = BeliefChange(
        lesson=made.lesson(), confidence=0.7, began=True, how=How.LEARNED, at=AT, event=occurrence(), replaced=(UUID(int=99),)
    )
    ended = replace(began, began=False, how=How.WITHERED, event=None, replaced=())
    return Diff(
        since=Instant(tick=1, at=AT),
        until=Instant(tick=2, at=AT),
        began=1,
        ended=1,
        changes=(began, ended),
        next_before=None,
        receipt=receipt,
    )


def citation() -> Citation:
    return Citation(receipt_id=new_id(), tick=1, coverage=Coverage.COMPLETE, query_digest="00", hits=("les_" + "0" * 32,))


def _link() -> Link:
    return Link(
        lesson_id=UUID(int=99),
        status=Status.SUPERSEDED,
        text=None,
        learned=Instant(tick=1, at=AT),
        activated=Instant(tick=1, at=AT),
        deactivated=Instant(tick=2, at=AT),
        superseded_by=UUID(int=100),
        held=False,
    )
