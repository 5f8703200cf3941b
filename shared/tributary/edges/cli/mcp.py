"""`tributary mcp`: the memory as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import contextlib
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import RoleName
from tributary.edges.cli.signals import stopping_on_signals

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors
    from tributary.edges.mcp.session import Opened, Session


def mcp(
    context: typer.Context,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Who asks a local memory; made at its first use. Else an agent named for the current folder.",
        ),
    ] = None,
    role: Annotated[RoleName, typer.Option(help="The role of an agent that is made.")] = RoleName.WRITER,
) -> None:
    """Serve the memory to an MCP client, such as Claude Code, over stdin and stdout.

    It goes to the server at TRIBUTARY_URL with TRIBUTARY_TOKEN; else to the one that 'tributary serve' runs here; else it is one
    itself, with a PostgreSQL of its own unless DATABASE_URL names another. Several may run at once.

    \b
    Example: claude mcp add tributary -- tributary mcp --agent alice
    """
    from tributary.edges.mcp.greeting import greet
    from tributary.edges.mcp.wire import claim

    wire = claim()
    doors = context.find_root().obj.doors
    remote, token = (doors.environment.get(f"TRIBUTARY_{name}") for name in ("URL", "TOKEN"))
    if agent is not None and (remote or token):
        raise CommandFailed("invalid_request", "--agent is for a local memory; here TRIBUTARY_TOKEN says who asks")
    asker = None if remote or token else agent or ""
    with ExitStack() as stack:
        stack.enter_context(contextlib.suppress(KeyboardInterrupt, BrokenPipeError))
        stack.enter_context(stopping_on_signals())
        opening = greet(wire)
        if opening is not None:
            session = _session(stack, doors, asker, role)
            from tributary.edges.mcp.stdio import serve_stdio

            serve_stdio(wire, opening, session)
    _leave()


def _session(stack: ExitStack, doors: Doors, agent: str | None, role: RoleName) -> Session:
    """Begins to open the memory. `agent` is None where a token says who asks, and empty for the one of the current folder."""
    # Only now, when the client was greeted: these bring much along.
    from tributary.edges.mcp.late import Late
    from tributary.edges.mcp.retries import Seen
    from tributary.edges.mcp.session import Session

    def open_it(opened: ExitStack) -> Opened:
        from tributary.edges.cli.mcp_place import Asker, name_of_folder, open_place

        asker = None if agent is None else Asker(name=agent or name_of_folder(Path.cwd()), role=role.value)
        return open_place(doors, asker, opened)

    late = Late(open_it)
    stack.callback(late.close)
    late.start()
    return Session(late.get, retries=Seen(), expected=role.value, lost=late.lost)


def _leave() -> NoReturn:
    """Ends the process at once: a model that is still being loaded, or called, would keep it, or bring it down on its way out."""
    sys.stderr.flush()
    os._exit(0)
