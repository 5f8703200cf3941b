"""`tributary costs`: what calls of models cost."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli import options
from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.client import Costs
    from tributary.contract.costs import CostReply

_FIGURES = tuple((name, "right") for name in ("calls", "failed", "tokens in", "tokens out", "dollars"))
_NOBODY = "(gardener, operator)"


class ByName(StrEnum):
    DAY = "day"
    PURPOSE = "purpose"
    MODEL = "model"
    AGENT = "agent"


def costs(
    context: typer.Context,
    since: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="The first day (UTC); 29 days before the last one when left out.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="DAY", help="The last day (UTC); today when left out.")] = None,
    by: Annotated[ByName, typer.Option("--by", help="What they are added up by.")] = ByName.DAY,
    as_json: AsJson = False,
) -> None:
    """Show what calls of models over a wire cost, and how much of today's budget is used. For curators.

    \b
    Example: tributary costs --by model --from 2026-03-01
    """
    first, last = options.day(since, "--from"), options.day(until, "--to")
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.costs(since=first, until=last, by=by.value)
    if as_json:
        output.json(found.model_dump(mode="json"))
        return
    if found.rows:
        output.table(
            ((found.by, "left"), *_FIGURES), [*(_row(_name(one), one) for one in found.rows), _row("total", found.total)]
        )
    else:
        output.lines([f"No model was called from {found.since} to {found.until}."])
    output.lines(list(_remarks(found)))


def _name(one: CostReply) -> str:
    return shown(one.name or one.key) or _NOBODY


def _row(name: str, one: CostReply) -> tuple[str, ...]:
    dollars = "unknown" if one.calls and one.unpriced == one.calls else _dollars(one.cost_usd)
    return (name, str(one.calls), str(one.failed), str(one.input_tokens), str(one.output_tokens), dollars)


def _remarks(found: Costs) -> Iterator[str]:
    if found.total.unpriced:
        models = ", ".join(map(shown, found.unpriced_models))
        yield f"{counted(found.total.unpriced, 'call')} without a known price, in no sum: {models} (see TRIBUTARY_PRICES_FILE)"
    budget = found.budget
    calls = counted(budget.calls_today, "call") + ("" if budget.calls_per_day is None else f" of {budget.calls_per_day}")
    dollars = _dollars(budget.usd_today) + ("" if budget.usd_per_day is None else f" of {_dollars(budget.usd_per_day)}")
    yield f"today (UTC): {calls}, {dollars} dollars"
    if budget.spent:
        yield "Today's budget is used up: the strong judge is skipped, and what it would have settled is a challenge."


def _dollars(amount: float) -> str:
    return f"{amount:.4f}" if amount < 1 else f"{amount:.2f}"
