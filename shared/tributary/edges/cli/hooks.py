"""`tributary hook session-start`: tells a Claude Code session, as it begins, what the tribe knows of the project at hand."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from contextlib import ExitStack

    from tributary.edges.cli.doors import Doors
    from tributary.edges.mcp.late import Late
    from tributary.edges.mcp.session import Opened
    from tributary.edges.mcp.wire import Wire

app = typer.Typer(no_args_is_help=True, help="Commands that an agent's program runs by itself, at events of its own.")

_CLOSE_S = 2.0
_STDIN_S = 1.0
_EVENT = "SessionStart"
_AFTERWARDS = "Ask tribal_recall before you touch what others may have met, and teach the tribe what you find out (tribal_learn)."


@app.callback()
def _root() -> None:
    """Keeps the command's own name in the command line, though it is the only one."""


@app.command("session-start")
def session_start(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who asks a local memory, as for 'tributary mcp'; made at its first use.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=20, help="At most so many lessons.")] = 5,
    within: Annotated[
        float, typer.Option("--within", metavar="SECONDS", min=0.1, max=600, help="For so long the session may be kept waiting.")
    ] = 20.0,
) -> None:
    """Recall what the tribe knows of the project, as a SessionStart hook of Claude Code.

    Reads the hook's JSON on standard input, and writes one line of JSON whose additionalContext has the lessons, fenced. It
    ends with 0 within some seconds whatever happens, so that no session fails for want of a memory.

    \b
    Example: tributary hook session-start --agent alice < hook.json
    """
    from tributary.edges.mcp.wire import claim

    wire = claim()
    ends_at = time.monotonic() + within
    doors: Doors = context.find_root().obj.doors
    told: list[str] = []
    late: list[Late] = []

    def work() -> None:
        try:
            told.append(_recalled(doors, _folder(wire), agent, limit=limit, ends_at=ends_at, late=late))
        except Exception as error:
            told.append(_excuse(getattr(error, "code", type(error).__name__)))

    # In threads: neither a client that leaves standard input open nor a database that hangs keeps the session waiting.
    _run(work, within)
    text = told[0] if told else _excuse("timed_out")
    wire.write_line(json.dumps({"hookSpecificOutput": {"hookEventName": _EVENT, "additionalContext": text}}))
    if late:
        _run(late[0].close, _CLOSE_S)
    sys.stderr.flush()
    os._exit(0)  # what is still under way ends with the process


def _run(work: Callable[[], None], seconds: float) -> None:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)


def _folder(wire: Wire) -> Path:
    """Returns the folder of the session: what the hook's JSON says, else the current one."""
    lines: list[bytes] = []

    def read() -> None:
        while (line := wire.read_line()) is not None:
            lines.append(line)

    _run(read, _STDIN_S)
    try:
        given = json.loads(b"\n".join(lines))["cwd"]
        folder = Path(given)
    except (ValueError, KeyError, TypeError, RecursionError):
        folder = Path.cwd()
    return folder if folder.is_dir() else Path.cwd()


def _recalled(doors: Doors, folder: Path, agent: str | None, *, limit: int, ends_at: float, late: list[Late]) -> str:
    from tributary.edges.cli.mcp_place import Asker, name_of_folder, open_place
    from tributary.edges.cli.project import names_of
    from tributary.edges.cli.project_lessons import lessons_about
    from tributary.edges.mcp.late import Late

    environment = doors.environment
    told = bool(environment.get("TRIBUTARY_URL") or environment.get("TRIBUTARY_TOKEN"))
    asker = None if told else Asker(name=agent or name_of_folder(folder), role="writer")

    def open_it(stack: ExitStack) -> Opened:
        return open_place(doors, asker, stack)

    late.append(Late(open_it))
    names = names_of(folder)
    memory = late[0].get(max(0.0, ends_at - time.monotonic())).memory
    return f"{lessons_about(memory, names, limit=limit)}{_AFTERWARDS}"


def _excuse(code: str) -> str:
    late = " in time; it may still be starting, and tribal_recall waits for it" if code == "timed_out" else f" ({code})"
    return f"The shared memory could not be asked{late}: do not conclude that nothing is known."
