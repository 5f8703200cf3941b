"""The command line, `tributary`. Importing this is cheap; the commands import what they need when they run."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line on `sys.argv` and ends the process with one of the codes of `exits.EXITS`."""
    from tributary.edges.cli import streams

    streams.use_utf8()
    arguments = streams.utf8_arguments(sys.argv[1:])
    try:
        from tributary.edges.cli.app import app
        from tributary.edges.cli.completing import prepare
    except ModuleNotFoundError as error:
        from tributary.edges.cli.exits import SETUP
        from tributary.edges.cli.failures import missing_extra

        detail = missing_extra(error)
        if detail is None:
            raise
        sys.stderr.write(f"Error: {detail}\n")
        sys.exit(SETUP)
    prepare()
    app(args=arguments, prog_name="tributary")
