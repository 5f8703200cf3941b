"""`tributary migrate` and `tributary version`."""

from __future__ import annotations

from typing import Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson


def migrate(
    context: typer.Context,
    sql: Annotated[bool, typer.Option("--sql", help="Only print the SQL that migrating would run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database's schema up to this version. Safe to repeat, and from two places at once. For operators.

    \b
    Example: tributary migrate
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        if sql:
            text = operator.migration_sql()
            output.result({"sql": text}, text.rstrip("\n").split("\n"))
            return
        operator.migrate()
    output.result({"migrated": True}, ["The schema is up to date."])


def version(context: typer.Context, as_json: AsJson = False) -> None:
    """Print the version; with --json which build it is, too.

    \b
    Example: tributary version --json
    """
    from tributary.telemetry.build import this_build

    build = this_build()
    _, output = session(context, as_json=as_json)
    output.result(build.document(), [f"tributary {build.version}"])
