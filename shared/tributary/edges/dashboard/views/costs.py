"""What calls of models cost the tribe, and how models answered. For curators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args

from tributary.client.errors import broken
from tributary.contract.activity import ModelCallsReply
from tributary.contract.costs import BudgetReply, By, CostReply, CostsReply
from tributary.core.agent import Role
from tributary.edges.dashboard.charts import Chart, Series, Unit, bars, figure
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.telling.windows import WINDOWS, latency, window
from tributary.edges.dashboard.visit import Visit

WAYS: Mapping[By, str] = {by: by for by in get_args(By)}
DRAWN = 8
"""So many pairs of purpose and model have their latencies drawn, those with the most calls; all of them stand in the table."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One figure at a glance."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the form asks for, as it was typed."""

    since: str
    until: str
    by: By
    hours: int

    @classmethod
    def of(cls, visit: Visit) -> Asked:
        by: By = next((one for one in WAYS if one == visit.asked("by")), "purpose")
        return cls(since=visit.asked("from"), until=visit.asked("to"), by=by, hours=window(visit))

    def days(self) -> tuple[date | None, date | None]:
        """Returns the range; raises InvalidRequest for what is no day."""
        return _day("from", self.since), _day("to", self.until)


def _costs(visit: Visit) -> Shown:
    asked = Asked.of(visit)
    since, until = asked.days()
    by_day = visit.memory.costs(since=since, until=until, by="day")
    found = by_day if asked.by == "day" else visit.memory.costs(since=since, until=until, by=asked.by)
    models = visit.memory.activity(hours=asked.hours).models
    today = visit.at.astimezone(UTC).date()
    values = {
        "costs": found,
        "tiles": _tiles(by_day, today),
        "by_day": _by_day(by_day),
        "rows": [(_name(one, found.by), one, money(one)) for one in found.rows],
        "total": money(found.total),
        "models": models,
        "answered": [] if models is None else [(one, _paid(one)) for one in models.calls],
        "drawn": [] if models is None else _drawn(models.calls),
    }
    return _shown(asked, values)


def _form_alone(visit: Visit) -> Shown:
    """The form as it was typed, over nothing: what it asked for was refused."""
    return _shown(Asked.of(visit), {"costs": None})


def _shown(asked: Asked, values: Mapping[str, object]) -> Shown:
    return Shown(template="costs.html", values={"asked": asked, "ways": WAYS, "windows": WINDOWS, **values})


def money(one: CostReply) -> str:
    """Returns what calls cost, as far as it is known: those without a price are in no sum."""
    return _known(one.cost_usd, one.unpriced)


def _paid(one: ModelCallsReply) -> str:
    return _known(one.cost_usd, one.unpriced)


def _known(usd: float, unpriced: int) -> str:
    if not unpriced:
        return figure(usd, Unit.USD)
    return f"at least {figure(usd, Unit.USD)}" if usd else "unknown"


def _tiles(costs: CostsReply, today: date) -> Sequence[Tile]:
    row = next((one for one in costs.rows if one.key == today.isoformat()), None)
    return (
        _spent(costs.budget, 0 if row is None else row.unpriced),
        _called(costs.budget),
        _summed("Spent on these days", costs.total.cost_usd, costs.total.unpriced, f"by {figure(costs.total.calls)} calls"),
        Tile(name="Calls that failed", value=figure(costs.total.failed), note=_of(costs.total.failed, costs.total.calls)),
        Tile(name="Calls without a price", value=figure(costs.total.unpriced), note=_unpriced(costs.total.unpriced)),
    )


def _spent(budget: BudgetReply, unpriced: int) -> Tile:
    limit = "no limit is set" if budget.usd_per_day is None else f"of {figure(budget.usd_per_day, Unit.USD)}"
    return _summed("Spent today (UTC)", budget.usd_today, unpriced, limit)


def _summed(name: str, usd: float, unpriced: int, note: str) -> Tile:
    """Returns a tile of dollars, which are 'unknown' where not one has a price."""
    if not unpriced:
        return Tile(name=name, value=figure(usd, Unit.USD), note=note)
    return Tile(name=name, value=figure(usd or None, Unit.USD), note=f"at least, {note}" if usd else note)


def _called(budget: BudgetReply) -> Tile:
    limit = "no limit is set" if budget.calls_per_day is None else f"of {figure(budget.calls_per_day)}"
    return Tile(name="Calls today (UTC)", value=figure(budget.calls_today), note=limit)


def _of(part: int, whole: int) -> str:
    return f"{figure(part / whole, Unit.SHARE)} of all" if whole else "none was made"


def _unpriced(calls: int) -> str:
    return "in no sum of dollars" if calls else "all are in the sums"


def _by_day(costs: CostsReply) -> Chart:
    """Returns a bar for each day; one without a call cost nothing, one whose calls have no price cost nobody knows what."""
    rows = {one.key: one for one in costs.rows}
    days = [costs.since + timedelta(days=number) for number in range((costs.until - costs.since).days + 1)]
    values = [spent(rows.get(day.isoformat())) for day in days]
    starts = [datetime.combine(day, time(), UTC) for day in days]
    return bars(starts, [Series(name="dollars", values=values)], label="Dollars by day", unit=Unit.USD, every="day")


def spent(one: CostReply | None) -> float | None:
    """Returns the dollars of a day's row: none were spent without one, and those of calls that have no price nobody knows."""
    if one is None:
        return 0.0
    return None if one.unpriced and not one.cost_usd else one.cost_usd


def _drawn(calls: Sequence[ModelCallsReply]) -> Sequence[Chart]:
    busiest = sorted((one for one in calls if one.latency.calls), key=lambda one: -one.calls)[:DRAWN]
    return [latency(one.latency, label=f"{one.purpose.replace('_', ' ')}: {one.model}") for one in busiest]


def _name(one: CostReply, by: By) -> str | None:
    """Returns what a row is about; None for the agent that is none."""
    if by == "agent":
        return (one.name or one.key) or None
    return one.key.replace("_", " ") if by == "purpose" else one.key


def _day(name: str, typed: str) -> date | None:
    if not typed:
        return None
    try:
        return date.fromisoformat(typed)
    except ValueError:
        raise broken(name, "must be a day such as 2026-03-01") from None


PAGES = (Page(path="/costs", title="Cost", answer=_costs, back=_form_alone, role=Role.CURATOR),)
