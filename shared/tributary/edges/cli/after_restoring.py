"""`tributary after-restore`: what a database that was restored from a backup is to be told before anybody uses it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.service.operator import SteppedBack


def after_restore(
    context: typer.Context,
    tribe: Annotated[
        str | None, typer.Option("--tribe", metavar="NAME", help="One tribe alone; else every one there is.")
    ] = None,
    ticks: Annotated[
        int,
        typer.Option("--ticks", metavar="N", min=1, max=10**12, help="At least as many ticks of a tribe as were lost."),
    ] = 1_000_000,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Tell the tribes of a restored database that they took a step back in time. For operators, before anybody uses it.

    Each goes on from a tick that nobody was given before. Who asks for a tick that was lost is told so, and receipts of one are
    'unknown'. Actions that were under way are in doubt, for a curator to reconcile, and are not carried out again by themselves.
    People sign in to the dashboard anew.

    \b
    Example: tributary after-restore
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        names = [tribe] if tribe is not None else [one.name for one in operator.tribes()]
        done = [operator.after_restore(name, ticks=ticks) for name in names]
    lines = [_said(one) for one in done] or ["There is no tribe in this database."]
    if any(one.in_doubt for one in done):
        lines.append("Look at what is in doubt: tributary action list --state in_doubt")
    output.result([asdict(one) for one in done], lines)


def _said(one: SteppedBack) -> str:
    return (
        f"{shown(one.tribe)}: restored as of tick {one.before}, goes on from tick {one.tick};"
        f" {one.in_doubt} action(s) in doubt, {one.sessions} session(s) ended."
    )
