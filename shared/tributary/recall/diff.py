"""The difference between two moments: what was believed at one of them and not at the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import PRIOR_WEIGHT, WITHERED_BELOW, half_life, shown_confidence
from tributary.core.diff import BeliefChange, Diff, How, how_ended
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Instant, Kind
from tributary.core.ranking import DIGITS
from tributary.core.receipt import Receipt
from tributary.recall import events
from tributary.recall.listing import check_as_of, check_limit, listing_receipt, shown_moment
from tributary.recall.moments import tick_and_instant
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.store import Reading, rows, statement

_TICK, _MICROS = "(0|[1-9][0-9]{0,17})", "(0|-?[1-9][0-9]{0,17})"
_CURSOR = re.compile(rf"{_TICK}\.{_MICROS}\.{_TICK}\.{_MICROS}\.{_MICROS}\.([0-9a-f]{{32}})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HALF_LIVES_S = {kind.value: half_life(kind).total_seconds() for kind in Kind}

Moment = int | datetime | None
Resolved = tuple[int | None, datetime | None]


@dataclass(frozen=True, kw_only=True)
class _Cursor:
    """Where a page ended, and which two moments it is about: what is written meanwhile must not move them."""

    since: Instant
    until: Instant
    at: datetime
    lesson_id: UUID

    def __str__(self) -> str:
        numbers = (self.since.tick, _micros(self.since.at), self.until.tick, _micros(self.until.at), _micros(self.at))
        return ".".join((*map(str, numbers), self.lesson_id.hex))

    @classmethod
    def after(cls, last: BeliefChange, since: Instant, until: Instant) -> _Cursor:
        return cls(since=since, until=until, at=last.at, lesson_id=last.lesson.lesson_id)

    @classmethod
    def of(cls, text: str, since: Moment, until: Moment) -> _Cursor:
        """Reads one; raises InvalidRequest for a text that is none, or is of a page about other moments than these."""
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise InvalidRequest("before", "must be the `next` of an earlier page")
        tick, at, until_tick, until_at, last_at = map(int, match.groups()[:-1])
        found = cls(
            since=Instant(tick=tick, at=_instant(at)),
            until=Instant(tick=until_tick, at=_instant(until_at)),
            at=_instant(last_at),
            lesson_id=UUID(hex=match[6]),
        )
        for asked, resolved in ((since, found.since), (until, found.until)):
            if asked is not None and asked not in (resolved.tick, resolved.at):
                raise InvalidRequest("before", "must be the `next` of a page with the same `from` and `to`")
        return found


@dataclass(frozen=True, kw_only=True)
class Comparer:
    """Compares what a tribe believed at two moments, by the rules of time that recall goes by."""

    database: Reading
    signer: Signer
    now: Now = utc_now

    def diff(
        self,
        principal: Principal,
        *,
        since: int | datetime = 0,
        until: int | datetime | None = None,
        limit: int = 20,
        before: str | None = None,
    ) -> Diff:
        """Returns a page of what was believed at one of two moments and not at the other, newest change first.

        `until` None is now. All pages are about the moments that the first one was resolved to. Expiry and withering count from
        when they were due. Raises InvalidRequest, also for a moment that is yet to come and for two that go backwards.
        """
        principal.require(Role.READER)
        check_limit(limit)
        check_as_of(since, field="from")
        check_as_of(until, field="to")
        cursor = None if before is None else _Cursor.of(before, since, until)
        watch = Stopwatch()
        with watch.stage("database"):
            found = rows.document(
                self.database.value(statement("recall", "diff"), self._parameters(principal, since, until, cursor, limit))
            )
        asked = {"from": shown_moment(since), "to": shown_moment(until), "limit": limit, "before": before}
        since_at, until_at = _resolved(found["since"]), _resolved(found["until"])
        if found["backwards"]:
            raise InvalidRequest(
                "from",
                f"must not be later than `to`: tick {since_at.tick} ({since_at.at.isoformat()}) is after tick {until_at.tick}"
                f" ({until_at.at.isoformat()}); the other way round, what began has ended",
            )
        changes = tuple(_change(one, until_at.at) for one in found["changes"])
        last = changes[-1] if found["more"] else None
        return Diff(
            since=since_at,
            until=until_at,
            began=found["began"],
            ended=found["ended"],
            changes=changes,
            next_before=None if last is None else str(_Cursor.after(last, since_at, until_at)),
            receipt=self._receipt(principal, found, asked, changes, watch),
        )

    def _parameters(
        self, principal: Principal, since: Moment, until: Moment, cursor: _Cursor | None, limit: int
    ) -> dict[str, object]:
        from_tick, from_at = tick_and_instant(since) if cursor is None else (cursor.since.tick, cursor.since.at)
        to_tick, to_at = tick_and_instant(until) if cursor is None else (cursor.until.tick, cursor.until.at)
        return {
            "tribe_id": principal.tribe_id,
            "hide": principal.role is not Role.CURATOR,
            "from_tick": from_tick,
            "from_at": from_at,
            "to_tick": to_tick,
            "to_at": to_at,
            "limit": limit,
            "before_at": None if cursor is None else cursor.at,
            "before_id": None if cursor is None else cursor.lesson_id,
            "kinds": list(_HALF_LIVES_S),
            "half_lives_s": list(_HALF_LIVES_S.values()),
            "weight": PRIOR_WEIGHT,
            "withered_below": WITHERED_BELOW,
            "now": self.now(),
        }

    def _receipt(
        self,
        principal: Principal,
        found: rows.Document,
        asked: dict[str, object],
        changes: tuple[BeliefChange, ...],
        watch: Stopwatch,
    ) -> Receipt:
        shown = [one.lesson.lesson_id for one in changes]
        moments = (found["until"], found["since"])
        return listing_receipt(self.signer, principal, found, asked, shown, watch, moments=moments)


def _change(row: rows.Document, until: datetime) -> BeliefChange:
    lesson = rows.lesson(row["lesson"])
    event = None if row["event"] is None else events.occurrence(row["event"])
    at = rows.moment(row["at"])
    if row["began"]:
        how = How.REVIVED if row["revived"] else How.LEARNED
    else:
        how = How(row["lapsed"]) if event is None else how_ended(lesson, event, at=at)
    return BeliefChange(
        lesson=lesson,
        confidence=round(shown_confidence(lesson, at=until), DIGITS),
        began=row["began"],
        how=how,
        at=at,
        event=event,
        replaced=tuple(map(UUID, row["replaced"])),
    )


def _resolved(row: rows.Document) -> Instant:
    return Instant(tick=row["tick"], at=rows.moment(row["at"]))


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def _instant(micros: int) -> datetime:
    try:
        return _EPOCH + micros * _MICROSECOND
    except OverflowError as error:
        raise InvalidRequest("before", "must be the `next` of an earlier page") from error
