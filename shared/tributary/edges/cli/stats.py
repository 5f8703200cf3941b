"""`tributary stats`: how the tribe stands and is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, moment, shown

if TYPE_CHECKING:
    from tributary.client import Stats

_COLUMNS = (("agent", "left"), ("operation", "left"), ("today", "right"), ("7 days", "right"))


def stats(context: typer.Context, as_json: AsJson = False) -> None:
    """Show how the tribe stands and how often it is asked; to curators, by which agent.

    \b
    Example: tributary stats
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.stats()
    output.result(found.model_dump(mode="json"), _lines(found))
    if as_json:
        return
    rows = _rows(found)
    if rows:
        output.table(_COLUMNS, rows)
    else:
        output.lines(["No call was counted in the last seven days."])


def _lines(found: Stats) -> list[str]:
    return [
        f"tick {found.tick} ({moment(found.at)})",
        f"lessons: {_counts(found.lessons)}",
        f"open: {counted(found.open_disputes, 'dispute')}, {counted(found.open_challenges, 'challenge')}",
        f"agents: {_counts(found.agents)}",
        *(f"space {shown(one.space)}: {shown(one.state)}, {counted(one.vectors, 'vector')}" for one in found.spaces),
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {shown(name)}" for name, count in sorted(counts.items())) or "none"


def _rows(found: Stats) -> list[tuple[str, str, str, str]]:
    counted = [("(all)", found.calls), *((shown(one.name), one.calls) for one in found.by_agent or ())]
    return [
        (name, shown(operation), str(calls.today.get(operation, 0)), str(week))
        for name, calls in counted
        for operation, week in sorted(calls.last_7_days.items())
    ]
