"""Listings and single lessons, each with a receipt: a listing searches, too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.confidence import shown_confidence
from tributary.core.errors import InvalidRequest, NotFound
from tributary.core.ids import Prefix, is_shown, new_id, parse
from tributary.core.lesson import Lesson, Status
from tributary.core.limits import RECALL_LIMIT, REF_CHARACTERS, check_aware, check_short
from tributary.core.normal import subject_key
from tributary.core.ranking import DIGITS, VERSION
from tributary.core.receipt import Coverage, Exclusion, Receipt, ScoredHit, Searched, SearchPath
from tributary.core.requests import EVERYTHING, Filters, LessonDetail, Listing
from tributary.recall.moments import tick_and_instant
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.store import Reading, rows, statement

_CURSOR = re.compile(r"(0|[1-9][0-9]{0,17})\.([0-9a-f]{32})")


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Shows lessons as they stand, or stood. Unlike recall it shows every status, and what time has ended too."""

    database: Reading
    signer: Signer
    now: Now = utc_now

    def lessons(
        self,
        principal: Principal,
        *,
        status: Status | None = Status.ACTIVE,
        limit: int = 20,
        before: str | None = None,
        as_of: int | datetime | None = None,
        ref: str | None = None,
        ref_prefix: str | None = None,
        mine: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Listing:
        """Returns a page, newest first; `status` None lists every status. Raises InvalidRequest.

        Only lessons whose source has the `ref`, or one that begins with `ref_prefix`, and only the caller's own when `mine`: then
        those too that are held back.
        """
        principal.require(Role.CURATOR if status is Status.QUARANTINED and not mine else Role.READER)
        check_limit(limit)
        filters.check()
        for name, value in (("ref", ref), ("ref_prefix", ref_prefix)):
            if value is not None:
                check_short(name, value, REF_CHARACTERS)
        check_as_of(as_of)
        before_tick, before_id = parse_cursor(before)
        tick, instant = tick_and_instant(as_of)
        watch = Stopwatch()
        with watch.stage("database"):
            found = rows.document(
                self.database.value(
                    statement("recall", "list"),
                    {
                        "tribe_id": principal.tribe_id,
                        "agent_id": principal.agent_id,
                        "status": None if status is None else status.value,
                        "hide": principal.role is not Role.CURATOR,
                        "mine": mine,
                        "ref": ref,
                        "ref_prefix": ref_prefix,
                        "limit": limit,
                        "before_tick": before_tick,
                        "before_id": before_id,
                        "tick": tick,
                        "instant": instant,
                        "now": self.now(),
                        "filters": _parameters(filters),
                    },
                )
            )
        if filters.author is not None and found["agent"] is None:
            raise InvalidRequest("author", f"there is no agent '{filters.author}' in this tribe")
        lessons = tuple(rows.lesson(one) for one in found["lessons"])
        at = rows.moment(found["at"])
        last = lessons[-1] if found["more"] else None
        narrowed = {"ref": ref, "ref_prefix": ref_prefix, "mine": mine or None}
        asked = {
            "status": "any" if status is None else status.value,
            "limit": limit,
            "before": before,
            "as_of": shown_moment(as_of),
            **{name: value for name, value in narrowed.items() if value is not None},
            **filters.document(),
        }
        return Listing(
            lessons=lessons,
            confidences=_confidences(lessons, at),
            next_before=None if last is None else cursor(last.learned.tick, last.lesson_id),
            receipt=listing_receipt(self.signer, principal, found, asked, [one.lesson_id for one in lessons], watch),
        )

    def lesson(self, principal: Principal, lesson_id: UUID, *, as_of: int | datetime | None = None) -> LessonDetail:
        """Returns one lesson of the tribe; raises NotFound when it had none such at that moment."""
        principal.require(Role.READER)
        check_as_of(as_of)
        tick, instant = tick_and_instant(as_of)
        watch = Stopwatch()
        with watch.stage("database"):
            found = rows.document(
                self.database.value(
                    statement("recall", "show"),
                    {
                        "tribe_id": principal.tribe_id,
                        "lesson_id": lesson_id,
                        "tick": tick,
                        "instant": instant,
                        "now": self.now(),
                    },
                )
            )
        lesson = rows.lesson(found["lesson"])
        if found["held"] and principal.role is not Role.CURATOR and lesson.agent_id != principal.agent_id:
            raise NotFound  # a hostile text must not reach readers by its id either
        return LessonDetail(
            lesson=lesson,
            confidence=_confidences((lesson,), rows.moment(found["at"]))[0],
            challenges=rows.challenges(found["challenges"], lesson_id),
            receipt=listing_receipt(self.signer, principal, found, {"as_of": shown_moment(as_of)}, [lesson.lesson_id], watch),
        )


def listing_receipt(
    signer: Signer,
    principal: Principal,
    found: rows.Document,
    filters: Mapping[str, object],
    shown: Sequence[UUID],
    watch: Stopwatch,
    *,
    prefix: Prefix = Prefix.LESSON,
    moments: Sequence[rows.Document] = (),
) -> Receipt:
    """Returns the signed receipt of a page. `found` holds tick, at, settled and more; `shown` are the ids on the page.

    A page about several moments gives them, each with tick, at and settled; then `found` need not hold them.
    """
    searched = tuple(
        Searched(tribe=principal.tribe_id, tick=one["tick"], at=rows.moment(one["at"]), settled=one["settled"])
        for one in moments or (found,)
    )
    more = (Exclusion(rule="over_limit", count=1),) if found.get("more") else ()
    return signer.sign(
        Receipt(
            receipt_id=new_id(),
            searched=searched,
            query_digest=None,
            filters=filters,
            paths=(SearchPath.LISTING,),
            space=None,
            floor=None,
            considered=len(shown) + len(more),
            excluded=more,
            hits=tuple(ScoredHit(lesson_id=one, score=0.0, similarity=None, terms={}, prefix=prefix) for one in shown),
            coverage=Coverage.COMPLETE,
            causes=(),
            ranking=VERSION,
            ms=watch.ms,
        )
    )


def check_limit(limit: int) -> None:
    """Raises InvalidRequest for a page of no rows or of too many."""
    if not 1 <= limit <= RECALL_LIMIT:
        raise InvalidRequest("limit", f"must be from 1 to {RECALL_LIMIT}")


def cursor(tick: int, last: UUID) -> str:
    """Returns where the page after the one that ends with `last` begins."""
    return f"{tick}.{last.hex}"


def check_as_of(as_of: int | datetime | None, *, field: str = "as_of") -> None:
    """Raises InvalidRequest for a time without offset or a number that is no tick."""
    if isinstance(as_of, datetime):
        check_aware(field, as_of)
    elif as_of is not None and not 0 <= as_of < 2**63:
        raise InvalidRequest(field, "must be a tick of this tribe or a time with offset")


def parse_cursor(before: str | None) -> tuple[int | None, UUID | None]:
    """Returns the tick and id of a cursor; raises InvalidRequest for a text that is none."""
    if before is None:
        return None, None
    match = _CURSOR.fullmatch(before)
    if match is None:
        raise InvalidRequest("before", "must be the `next` of an earlier page")
    return int(match[1]), UUID(hex=match[2])


def _parameters(filters: Filters) -> Jsonb | None:
    author = filters.author
    by_id = parse(Prefix.AGENT, author, field="author") if author is not None and is_shown(Prefix.AGENT, author) else None
    given = {
        "kinds": None if filters.kind is None else [filters.kind.value],
        "agent": author if by_id is None else None,
        "agent_id": None if by_id is None else str(by_id),
        "subject_key": subject_key(filters.subject),
        "tags": dict(filters.tags),
    }
    return Jsonb(given) if any(given.values()) else None


def _confidences(lessons: tuple[Lesson, ...], at: datetime) -> tuple[float, ...]:
    return tuple(round(shown_confidence(one, at=at), DIGITS) for one in lessons)


def shown_moment(as_of: int | datetime | None) -> object:
    """Returns a moment as receipts name it."""
    return as_of.isoformat() if isinstance(as_of, datetime) else as_of
