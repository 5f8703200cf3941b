"""Timelines of lessons and the feed of a tribe's changes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import shown_confidence
from tributary.core.errors import InvalidRequest, Unavailable
from tributary.core.history import CHAIN, Changes, Timeline
from tributary.core.ids import Prefix, show
from tributary.core.limits import CHANGES_LIMIT, CHANGES_WAIT_S, check_tick
from tributary.core.ranking import DIGITS
from tributary.recall import events
from tributary.recall.listing import check_limit, listing_receipt
from tributary.recall.lookout import Lookout
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.store import Database, rows, statement


@dataclass(frozen=True, kw_only=True)
class Historian:
    """Tells what happened. `longest_wait_s` bounds how long a caller may wait for a change; 0 lets nobody wait."""

    database: Database
    signer: Signer
    longest_wait_s: float
    now: Now = utc_now
    _lookout: Lookout = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lookout", Lookout(self._clock))

    def timeline(self, principal: Principal, lesson_id: UUID, *, limit: int = 100, before: int | None = None) -> Timeline:
        """Returns what happened to a lesson: its last `limit` events before the tick `before`, oldest first.

        A tick is never split, so a page may hold some more. Raises InvalidRequest, and NotFound for no lesson of the tribe
        and for one that is held back, or an injection, and not for this agent to see.
        """
        principal.require(Role.READER)
        check_limit(limit)
        check_tick("before", before)
        watch = Stopwatch()
        with watch.stage("database"):
            found = rows.document(
                self.database.value(
                    statement("recall", "timeline"),
                    {
                        "tribe_id": principal.tribe_id,
                        "agent_id": principal.agent_id,
                        "lesson_id": lesson_id,
                        "limit": limit,
                        "before_tick": before,
                        "chain": CHAIN,
                        "now": self.now(),
                    },
                )
            )
        lesson = rows.lesson(found["lesson"])
        happened = tuple(map(events.occurrence, found["events"]))
        filters = {"lesson": show(Prefix.LESSON, lesson_id), "limit": limit, "before": before}
        return Timeline(
            lesson=lesson,
            confidence=round(shown_confidence(lesson, at=rows.moment(found["at"])), DIGITS),
            events=happened,
            decisions=tuple(map(events.ruling, found["decisions"])),
            before=events.chain(found["before"], more=found["more_before"]),
            after=events.chain(found["after"], more=found["more_after"]),
            next_before=happened[0].tick if found["more"] else None,
            receipt=listing_receipt(self.signer, principal, found, filters, [lesson_id], watch),
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
        """Returns all that happened after the tick `after`, in whole ticks: as many as `limit` changes hold, but at least one.

        Where more happened these are the first ones, with `newest` the last. When nothing did, waits up to `wait_s` seconds for
        a tick, without a connection in its hands, and gives up early when `stop` is set. Raises InvalidRequest, also for a tick
        that the tribe has not reached, and Unavailable.
        """
        principal.require(Role.READER)
        check_tick("after", after)
        if not 1 <= limit <= CHANGES_LIMIT:
            raise InvalidRequest("limit", f"must be from 1 to {CHANGES_LIMIT}")
        if not 0 <= wait_s <= CHANGES_WAIT_S:
            raise InvalidRequest("wait_s", f"must be from 0 to {CHANGES_WAIT_S}")
        ends_at = time.monotonic() + min(wait_s, self.longest_wait_s)
        page = self._page(principal, after, limit, newest)
        if page.clock == after and self._lookout.past(principal.tribe_id, after, ends_at=ends_at, stop=stop or threading.Event()):
            page = self._page(principal, after, limit, newest)
        return page

    def _page(self, principal: Principal, after: int, limit: int, newest: bool) -> Changes:
        found = rows.document(
            self.database.value(
                statement("recall", "changes"),
                {
                    "tribe_id": principal.tribe_id,
                    "agent_id": principal.agent_id,
                    "after": after,
                    "limit": limit,
                    "newest": newest,
                },
            )
        )
        if after > found["clock"]:
            if found["replica"]:
                raise Unavailable(f"tick {after} has not reached this database yet; it stands at {found['clock']}")
            raise InvalidRequest("after", f"must be a tick that was reached; the clock of this tribe stands at {found['clock']}")
        return Changes(
            changes=tuple(map(events.change, found["changes"])), after=found["after"], tick=found["tick"], clock=found["clock"]
        )

    def _clock(self, tribe_id: UUID) -> int:
        return cast(int, self.database.value(statement("recall", "clock"), {"tribe_id": tribe_id}))
