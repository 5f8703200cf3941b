"""`tributary garden`: what time, room and missing models left to do, done now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import exit_for
from tributary.edges.cli.options import AsJson, OnlyTribe
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.core.garden import GardenReport, RuleReport

_COLUMNS = (("rule", "left"), ("done", "right"), ("left", "right"), ("what", "left"))


def garden(
    context: typer.Context,
    tribe: OnlyTribe = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done; change nothing.")] = False,
    cell: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this cell, of those in TRIBUTARY_CELLS; all of them without it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tend the tribes: settle, judge again, stamp what lapsed, evict, embed, prune. Safe to repeat. For operators.

    \b
    Example: tributary garden --dry-run
    """
    doors, output = session(context, as_json=as_json)
    settings = doors.load_settings(False)
    with doors.open_gardener(settings if cell is None else settings.in_cell(cell)) as gardener:
        if tribe is None:
            report = gardener.run_all(dry_run=dry_run, budget_s=None)
        else:
            report = gardener.run_named(tribe, dry_run=dry_run, budget_s=None)
    if as_json:
        output.json(report.document())
    else:
        busy = [one for one in report.total if not one.idle]
        if busy:
            output.table(_COLUMNS, [_row(one) for one in busy])
        for remark in _remarks(report):
            output.remark(remark)
    if report.failed:
        raise typer.Exit(exit_for(report.failed))


def _row(rule: RuleReport) -> tuple[str, str, str, str]:
    said = [_counts(rule.kinds)]
    if rule.refused:
        said.append(f"not done: {_counts(rule.refused)}")
    if rule.failed:
        said.append(f"failed: {rule.failed}")
    return rule.rule.value, str(rule.done), str(rule.left), "; ".join(one for one in said if one)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {code}" for code, count in sorted(counts.items()))


def _remarks(report: GardenReport) -> Iterator[str]:
    from tributary.core.cells import shown_cell

    if report.idle:
        yield "There is nothing to do."
    if report.dry_run:
        yield "Nothing was changed: this was a dry run."
    for tribe in report.tribes:
        if tribe.failed:
            where = f" of the cell '{tribe.cell}'" if tribe.cell else ""
            yield f"The run in the tribe '{shown(tribe.name)}'{where} ended early: {tribe.failed}."
    for one in report.cells:
        if one.failed:
            yield f"The run in the cell '{shown_cell(one.cell)}' ended early: {one.failed}."
    if report.waiting:
        yield f"Not reached: {counted(report.waiting, 'tribe')}."
