"""`tributary postgres`: pg_dump, pg_restore, psql and the like, with the PostgreSQL that comes along."""

from __future__ import annotations

import shutil
import subprocess
from typing import Annotated

import typer

from tributary.edges.cli.doors import session


def postgres(
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="What to run, with its arguments.")],
) -> None:
    """Run one of PostgreSQL's programs with the local database. For operators.

    That is the one under TRIBUTARY_HOME; its server is up meanwhile.

    pg_dump, pg_restore, psql and others come along; whatever runs has PGHOST, PGPORT, PGUSER and PGDATABASE set. It may do
    anything to the database. Ends as the program does.

    \b
    Example: tributary postgres pg_dump --schema=tributary --format=custom --file=tributary.dump
    """
    from tributary.edges.cli.failures import CommandFailed
    from tributary.service.embedded_programs import embedded_programs

    doors, _ = session(context, as_json=False)
    with embedded_programs(doors.load_settings(False), doors.environment) as environment:
        found = shutil.which(command[0], path=environment["PATH"])
        if found is None:
            raise CommandFailed("not_found", f"there is no program '{command[0]}' here")
        # what it writes is as secret as the database: its owner's alone
        ended = subprocess.run([found, *command[1:]], env=environment, umask=0o077, check=False).returncode  # noqa: S603  (the caller's own command)
    if ended:
        raise typer.Exit(ended if ended > 0 else 128 - ended)
