"""The past: what the tribe believed at any moment, any search as of then, and what changed between two moments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus

from tributary.client import Change, Receipt
from tributary.client.errors import InvalidRequest
from tributary.contract.models import SearchedReply
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.problems import Problem, problem_of
from tributary.edges.dashboard.telling.asked import moment_of
from tributary.edges.dashboard.telling.explaining import explain
from tributary.edges.dashboard.telling.strip import strip
from tributary.edges.dashboard.telling.turns import turns_of
from tributary.edges.dashboard.views.lesson import CAUSES, HAPPENED
from tributary.edges.dashboard.visit import Visit

Moment = int | datetime

PAGE_SIZE = 25
HITS = 10
NAMED = 5
"""So many of the things that one tick did are named; a tick of the gardener may hold hundreds."""
SPANS: Mapping[int, str] = {72: "3 days, by hour", 24 * 31: "31 days, by day"}
_JUMPS = (
    ("hour", "An hour ago", timedelta(hours=1)),
    ("day", "A day ago", timedelta(days=1)),
    ("week", "A week ago", timedelta(days=7)),
)
_FUTURE, _EARLIER = "That is yet to come", "Choose an earlier moment."
_LOST, _OTHER = "That moment was lost", "Choose one before it was, or after the memory was restored."
_BACKWARDS, _LATER = "That goes backwards", "The earlier moment is later than the other."
_WITHOUT_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the address says, as it was typed."""

    at: str
    since: str
    query: str
    before: str
    hours: int

    @classmethod
    def of(cls, visit: Visit) -> Asked:
        return cls(
            at=visit.asked("at"),
            since=visit.asked("from"),
            query=visit.asked("query"),
            before=visit.asked("before"),
            hours=next((one for one in SPANS if str(one) == visit.asked("hours")), min(SPANS)),
        )

    @property
    def span(self) -> str:
        """The stretch that the bars are about, as the address has it: nothing for the usual one."""
        return "" if self.hours == min(SPANS) else str(self.hours)

    def to(self, **other: object) -> Mapping[str, str]:
        """Returns this address with something else in it, and without what says nothing."""
        fields = {"at": self.at, "from": self.since, "query": self.query, "hours": self.span, **other}
        return {name: str(value) for name, value in fields.items() if value not in ("", None)}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What stands under the slider, and the moments that it is about; none where what was asked makes no sense."""

    moment: SearchedReply | None = None
    since: SearchedReply | None = None
    receipt: Receipt | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    broken: Problem | None = None


@dataclass(frozen=True, kw_only=True)
class Happened:
    """Where the tribe stands, and what the tick that is looked at did: NAMED of its events, and how many more there are."""

    clock: int = 0
    events: Sequence[Change] = ()
    more: int = 0


def _travel(visit: Visit) -> Shown:
    asked = Asked.of(visit)
    found = _found(visit, asked)
    happened = _happened(visit, found.moment)
    if found.broken is not None:
        found = replace(found, broken=_explained(visit, found.broken, asked, happened.clock))
    values: dict[str, object] = {
        "asked": asked,
        "moment": found.moment,
        "since": found.since,
        "told": found.receipt and explain(found.receipt),
        "broken": found.broken,
        "happened": happened,
        "jumps": [(name, words, visit.at.replace(microsecond=0) - ago) for name, words, ago in _JUMPS],
        "leading": partial(_leading, asked, found),
        "backwards": found.broken is not None and found.broken.title == _BACKWARDS,
        "words": {"happened": HAPPENED, "causes": CAUSES},
        "before": asked.before,
        **{"listed": None, "hits": None, "diff": None, "turns": (), **found.values},
    }
    status = found.broken.status if found.broken else HTTPStatus.OK
    if visit.fragment:
        return Shown(template="time_travel_then.html", values=values, status=status)
    values |= {"spans": SPANS, "strip": strip(visit.memory.activity(hours=asked.hours), happened.clock)}
    return Shown(template="time_travel.html", values=values, status=status)


def _leading(asked: Asked, found: Found, at: Moment | None) -> Mapping[str, str]:
    """Returns the address of another moment; where two are compared, the earlier of it and `from` comes first.

    What was asked in vain is compared with nothing: a link out of it is to lead somewhere.
    """
    if found.broken is not None:
        return asked.to(at=_typed(at), **{"from": ""})
    since = found.since
    # An instant comes after the tick that it leads to, hence <=.
    if since and at is not None and (at <= since.tick if isinstance(at, int) else at < since.at):
        return asked.to(at=asked.since, **{"from": _typed(at)})
    return asked.to(at=_typed(at))


def _typed(at: Moment | None) -> str:
    return "" if at is None else str(at) if isinstance(at, int) else at.isoformat()


def _found(visit: Visit, asked: Asked) -> Found:
    try:
        at, since = _moment(asked.at, "the moment"), _moment(asked.since, "the earlier moment")
        if since is not None:
            return _changed(visit, asked, since, at)
        return _searched(visit, asked, at) if asked.query else _listed(visit, asked, at)
    except InvalidRequest as error:
        # What was typed stays on the page, with what is wrong about it.
        return Found(broken=problem_of(error))


def _listed(visit: Visit, asked: Asked, at: Moment | None) -> Found:
    page = next(visit.memory.pages(page_size=PAGE_SIZE, as_of=at, before=asked.before or None))
    return Found(moment=page.receipt.searched[0], receipt=page.receipt, values={"listed": page, "next": page.next})


def _searched(visit: Visit, asked: Asked, at: Moment | None) -> Found:
    hits = visit.memory.recall(asked.query, limit=HITS, as_of=at)
    return Found(moment=hits.receipt.searched[0], receipt=hits.receipt, values={"hits": list(hits)})


def _changed(visit: Visit, asked: Asked, since: Moment, at: Moment | None) -> Found:
    page = next(visit.memory.diff(since, at, page_size=PAGE_SIZE, before=asked.before or None).pages())
    until, earlier = page.receipt.searched
    return Found(moment=until, since=earlier, receipt=page.receipt, values={"diff": page, "turns": turns_of(page.items)})


def _moment(text: str, name: str) -> Moment | None:
    """Returns what a field says; a time without an offset is one of UTC, as browsers without a script send it."""
    bare = _WITHOUT_ZONE.fullmatch(text)
    return moment_of(f"{bare[1]}T{bare[2]}{bare[3] or ':00'}Z" if bare else text, name)


def _happened(visit: Visit, moment: SearchedReply | None) -> Happened:
    """Returns what the tick did, read with the tribe's clock in one; of the beginning, and of no moment, the clock alone."""
    tick = moment.tick if moment else 0
    page = next(visit.memory.change_pages(max(0, tick - 1), follow=False, page_size=1), None)
    if page is None:
        return Happened()
    events = [one for one in page.changes if one.tick == tick]
    return Happened(clock=page.clock, events=events[:NAMED], more=max(0, len(events) - NAMED))


def _explained(visit: Visit, problem: Problem, asked: Asked, clock: int) -> Problem:
    """Says of moments that are no good why; of anything else that was typed, what the memory says."""
    try:
        at, since = _moment(asked.at, ""), _moment(asked.since, "")
    except InvalidRequest:
        return replace(problem, title="That names no moment", to_do=f"Ticks go from 0 to {clock}; now needs no name.")
    turned = isinstance(at, int) and isinstance(since, int) and at < since
    for one in (at, since):
        if isinstance(one, datetime) and one > visit.at:
            return replace(problem, title=_FUTURE, detail="Nobody knows what will be believed then.", to_do=_EARLIER)
        if isinstance(one, int) and one > clock:
            detail = f"The tribe's clock stands at tick {clock}; tick {one} is yet to come."
            return replace(problem, title=_FUTURE, detail=detail, to_do=_EARLIER)
        if not turned and isinstance(one, int) and (lost := _not_there(visit, one)) is not None:
            return replace(lost, title=_LOST, to_do=_OTHER)
    if since is not None and not asked.before:
        return replace(problem, title=_BACKWARDS, detail=_LATER, to_do="")
    return problem


def _not_there(visit: Visit, tick: int) -> Problem | None:
    """Returns what is said of a tick that was reached, and taken back when the memory was restored; None for any other."""
    try:
        next(visit.memory.pages(page_size=1, as_of=tick))
    except InvalidRequest as error:
        return problem_of(error)
    return None


PAGES = (Page(path="/time-travel", title="Time travel", answer=_travel, public=True),)
