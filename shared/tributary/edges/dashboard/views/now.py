"""What the tribe believes now, how busy it is, and what happens to it: the figures, and a feed that goes on by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import TypeVar

from tributary.client import Change, Changes
from tributary.client.errors import TributaryError, Unauthenticated
from tributary.contract.activity import ActivityReply
from tributary.contract.costs import CostsReply
from tributary.contract.history import EventName
from tributary.contract.status import StatsReply
from tributary.edges.dashboard.charts import Chart, Unit, figure, sparkline, strip
from tributary.edges.dashboard.page import Answer, Nothing, Page, Shown
from tributary.edges.dashboard.telling.asked import whole_of
from tributary.edges.dashboard.views.costs import money, spent
from tributary.edges.dashboard.views.lesson import CAUSES, ENDINGS
from tributary.edges.dashboard.visit import Visit

HOURS = 24
DAYS = 7
"""So many days of spending are drawn beside today's."""
ENTRIES = 30
"""So many changes are shown at once, the last ones; of what is left out the feed says how much it was."""
START = 240
"""So many characters of a lesson are shown, its start."""
_NONE_YET = "no recall yet"
_UNREPORTED = "recalls were counted today, but not how they went"

Reply = TypeVar("Reply")


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One figure at a glance. `value` is None where it is not known, and `note` then says why."""

    name: str
    value: str | None
    note: str = ""
    path: str | None = None
    """The page that tells more, where the visitor may see it."""
    alarming: bool = False
    chart: Chart | None = None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the memory said, or, of each thing that could not be asked, why."""

    stats: StatsReply | TributaryError
    activity: ActivityReply | TributaryError
    costs: CostsReply | TributaryError | None
    """None for whom it is not."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One change as the feed shows it. `start` is what its lesson says, as far as it is shown."""

    change: Change
    start: str | None


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The last changes up to `tick`, newest first. They begin after the tick `since`; what was asked for, after `after`."""

    entries: Sequence[Entry]
    after: int
    since: int
    tick: int
    left_out: int
    """So many changes of the same ticks are not among them: a tick may hold hundreds."""
    said: str
    """What happened, in one short sentence without a word of any lesson."""


def _now(visit: Visit) -> Shown:
    if visit.fragment:
        return Shown(template="now_figures.html", values=_figures(visit))
    # First, so that a memory that is away is waited for once.
    batch = _batch(visit.memory.change_page(newest=True, page_size=ENTRIES), after=0)
    return Shown(template="now.html", values={"batch": batch, **_figures(visit), **_WORDS})


def _feed(visit: Visit) -> Answer:
    """What happened after the tick that the feed has seen; held back until something does, as long as may be."""
    after = whole_of(visit.asked("after"), "after", "must be the tick that the feed has seen", most_digits=19)
    page = visit.memory.change_page(after, newest=True, page_size=ENTRIES, wait_s=visit.live_s)
    if not page.changes:
        return Nothing()
    return Shown(template="now_feed.html", values={"batch": _batch(page, after=after), **_WORDS})


def _batch(page: Changes, *, after: int) -> Batch:
    newest = page.changes[::-1]
    return Batch(
        entries=[Entry(change=one, start=_start(one)) for one in newest[:ENTRIES]],
        after=after,
        since=page.after,
        tick=page.tick,
        left_out=max(0, len(newest) - ENTRIES),
        said=_said(newest),
    )


def _start(change: Change) -> str | None:
    """Returns the beginning of what the lesson says; None where that is not to be read in passing, or is gone."""
    if change.held or change.text is None:
        return None
    return change.text if len(change.text) <= START else change.text[:START].rstrip() + "…"


def _said(changes: Sequence[Change]) -> str:
    counts = Counter(one.event.replace("_", " ") for one in changes)
    return ", ".join(f"{count} {event}" for event, count in counts.most_common())


def _figures(visit: Visit) -> dict[str, object]:
    today = visit.at.astimezone(UTC).date()
    since = today - timedelta(days=DAYS - 1)
    seen = Seen(
        stats=_asked(visit.memory.stats),
        activity=_asked(lambda: visit.memory.activity(hours=HOURS)),
        costs=_asked(lambda: visit.memory.costs(since=since, until=today)) if visit.visitor.may("curator") else None,
    )
    untold = _untold(seen.stats)
    return {
        "tiles": (*_standing(seen.stats, seen.activity, curator=visit.visitor.may("curator")), _recalls(seen.activity, untold)),
        "coverage": _coverage(seen.activity, untold),
        "spent": None if seen.costs is None else _spent(seen.costs, today),
    }


def _untold(stats: StatsReply | TributaryError) -> str:
    """Returns why nothing is known of recalls where their activity tells of none: there was none, or it was not reported."""
    counted = not isinstance(stats, TributaryError) and stats.calls.today.get("recall", 0) > 0
    return _UNREPORTED if counted else _NONE_YET


def _asked(ask: Callable[[], Reply]) -> Reply | TributaryError:
    """Returns the reply, or what kept the memory from giving it: one figure that is missing hides no other."""
    try:
        return ask()
    except Unauthenticated:
        raise
    except TributaryError as error:
        return error


def _standing(stats: StatsReply | TributaryError, activity: ActivityReply | TributaryError, *, curator: bool) -> Sequence[Tile]:
    quarantine = "/quarantine" if curator else None
    disputed = _hourly(activity, "Disputed or challenged an hour", "disputed", "challenged")
    held = _hourly(activity, "Quarantined an hour", "quarantined")
    if isinstance(stats, TributaryError):
        lost = stats.detail
        believed = Tile(name="Active lessons", value=None, note=lost, path="/lessons")
        open_ones = Tile(name="Open disputes and challenges", value=None, note=lost, path="/disputes", chart=disputed)
        back = Tile(name="Quarantined", value=None, note=lost, path=quarantine, chart=held)
    else:
        by_status = stats.lessons
        pending = by_status.get("pending", 0)
        believed = Tile(
            name="Active lessons",
            value=figure(by_status.get("active", 0)),
            note=f"{figure(pending)} pending" if pending else "none is pending",
            path="/lessons",
            chart=_hourly(activity, "Learned an hour", "learned"),
        )
        open_ones = Tile(
            name="Open disputes and challenges",
            value=figure(stats.open_disputes + stats.open_challenges),
            note=f"{_count(stats.open_disputes, 'dispute')}, {_count(stats.open_challenges, 'challenge')}",
            path="/disputes",
            alarming=stats.open_disputes > 0,
            chart=disputed,
        )
        count = by_status.get("quarantined", 0)
        note = "to be looked at by a curator" if count else "nothing is held back"
        back = Tile(name="Quarantined", value=figure(count), note=note, path=quarantine, alarming=count > 0, chart=held)
    return (believed, *_changed(activity), open_ones, back)


def _changed(activity: ActivityReply | TributaryError) -> Sequence[Tile]:
    ticks, settled = f"Ticks in {HOURS} hours", f"Conflicts settled in {HOURS} hours"
    if isinstance(activity, TributaryError):
        lost = activity.detail
        return Tile(name=ticks, value=None, note=lost, path="/time-travel"), Tile(
            name=settled, value=None, note=lost, path="/disputes"
        )
    by_hour = [one.ticks for one in activity.buckets]
    ended = activity.conflicts
    by_curators = ended.accepted + ended.rejected + ended.both_stand
    return (
        Tile(
            name=ticks,
            value=figure(sum(by_hour)),
            note="changes of what is believed",
            path="/time-travel",
            chart=sparkline(by_hour, label="Ticks an hour", names=_hours(activity)),
        ),
        Tile(
            name=settled,
            value=figure(ended.total),
            note=f"{figure(ended.replaced)} by learning, {figure(by_curators)} by curators",
            path="/disputes",
            chart=_hourly(activity, "Superseded an hour", "superseded"),
        ),
    )


def _recalls(activity: ActivityReply | TributaryError, untold: str) -> Tile:
    name = "Recall p50 / p95"
    if isinstance(activity, TributaryError):
        return Tile(name=name, value=None, note=activity.detail, path="/quality")
    found = activity.recall
    by_hour = [sum(one.recalls.model_dump().values()) for one in activity.buckets]
    chart = sparkline(by_hour, label="Recalls an hour", names=_hours(activity)) if any(by_hour) else None
    if found.p50_ms is None or found.p95_ms is None:
        return Tile(name=name, value=None, note=untold, path="/quality", chart=chart)
    times = f"{figure(found.p50_ms, Unit.MS)} / {figure(found.p95_ms, Unit.MS)}"
    note = f"half and 95 of 100 of {figure(found.calls)} were answered within"
    return Tile(name=name, value=times, note=note, path="/quality", chart=chart)


def _coverage(activity: ActivityReply | TributaryError, untold: str) -> Chart | str:
    """Returns the recalls by their coverage, or why nothing can be said of them."""
    if isinstance(activity, TributaryError):
        return activity.detail
    counts = Counter[str]()
    for one in activity.buckets:
        counts.update(one.recalls.model_dump())
    if not counts.total():
        return untold
    return strip(list(counts.items()), label=f"Recalls by coverage, {HOURS} hours")


def _spent(costs: CostsReply | TributaryError, today: date) -> Tile:
    name = "Model spend today (UTC)"
    if isinstance(costs, TributaryError):
        return Tile(name=name, value=None, note=costs.detail, path="/costs")
    rows = {one.key: one for one in costs.rows}
    days = [(today - timedelta(days=DAYS - 1 - number)).isoformat() for number in range(DAYS)]
    row = rows.get(today.isoformat())
    said = figure(costs.budget.usd_today, Unit.USD) if row is None else money(row)
    limit = costs.budget.usd_per_day
    note = "no limit is set" if limit is None else f"of {figure(limit, Unit.USD)}"
    return Tile(
        name=name,
        value=None if said == "unknown" else said,
        note="none of these calls has a known price" if said == "unknown" else "used up: " + note if costs.budget.spent else note,
        path="/costs",
        alarming=costs.budget.spent,
        chart=sparkline(
            [spent(rows.get(day)) for day in days], label=f"Model spend a day, {DAYS} days", unit=Unit.USD, names=days
        ),
    )


def _hourly(activity: ActivityReply | TributaryError, label: str, *events: EventName) -> Chart | None:
    if isinstance(activity, TributaryError):
        return None
    values = [sum(one.events.get(event, 0) for event in events) for one in activity.buckets]
    return sparkline(values, label=label, names=_hours(activity))


def _count(number: int, what: str) -> str:
    return f"{figure(number)} {what}" + ("" if number == 1 else "s")


def _hours(activity: ActivityReply) -> Sequence[str]:
    return [f"{one.start.astimezone(UTC):%b %d, %H:00} UTC" for one in activity.buckets]


_WORDS = {"causes": CAUSES, "endings": ENDINGS}

PAGES = (
    Page(path="/", title="Now", answer=_now, public=True),
    Page(path="/feed", answer=_feed, public=True, waits=True),
)
