"""`tributary migrate` and `tributary version`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell
from tributary.edges.cli.words import shown_block

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.output import Output
    from tributary.service import Settings


def migrate(
    context: typer.Context,
    sql: Annotated[bool, typer.Option("--sql", help="Only print the SQL that migrating would run.")] = False,
    cell: Cell = None,
    all_cells: Annotated[bool, typer.Option("--all-cells", help="Every cell; one that fails keeps no other from it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database's schema up to this version. Safe to repeat, and from two places at once. For operators.

    \b
    Example: tributary migrate
    """
    doors, output = session(context, as_json=as_json)
    if all_cells:
        if cell is not None or sql:
            raise typer.BadParameter("goes without --cell and --sql", param_hint="--all-cells")
        _migrate_all(doors, output, doors.load_settings(False))
        return
    with operator_of(doors, cell) as operator:
        if sql:
            text = operator.migration_sql()
            # what a function answers is not ours; into a file it goes as it is, to be run
            lines = (shown_block(text) if sys.stdout.isatty() else text).rstrip("\n").split("\n")
            output.result({"sql": text}, lines)
            return
        operator.migrate()
    output.result({"migrated": True}, ["The schema is up to date."])


def _migrate_all(doors: Doors, output: Output, settings: Settings) -> None:
    from tributary.core.cells import shown_cell
    from tributary.edges.cli.cells import each_cell, end_by

    answers = each_cell(doors, settings, lambda operator: operator.migrate())
    output.result(
        [{"cell": one.cell, "migrated": one.failure is None} for one in answers],
        [f"The schema of the cell '{shown_cell(one.cell)}' is up to date." for one in answers if one.failure is None],
    )
    end_by(answers, as_json=output.as_json)


def version(context: typer.Context, as_json: AsJson = False) -> None:
    """Print the version; with --json which build it is, too.

    \b
    Example: tributary version --json
    """
    from tributary.telemetry.build import this_build

    build = this_build()
    _, output = session(context, as_json=as_json)
    output.result(build.document(), [f"tributary {build.version}"])
