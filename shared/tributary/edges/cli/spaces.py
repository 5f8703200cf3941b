"""`tributary space`: another embedding model for a tribe, while learn and recall go on."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.exits import exit_for
from tributary.edges.cli.options import AsJson, Cell, Tribe
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.core.space import TribeSpace

app = typer.Typer(
    help="Change the embedding model of a tribe that is in use, space by space. For operators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Space = Annotated[
    str | None, typer.Option("--space", metavar="SPACE", help="A space's name or number; else the one that is being built.")
]
_COLUMNS = (
    ("number", "right"),
    ("space", "left"),
    ("state", "left"),
    ("vectors", "right"),
    ("missing", "right"),
    ("index", "left"),
)
_BETWEEN_PROGRESS_S = 0.2
_BAR = 30


@app.command("list")
def list_spaces(context: typer.Context, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False) -> None:
    """List a tribe's embedding spaces.

    \b
    Example: tributary space list
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        found = operator.spaces(tribe)
    if as_json:
        output.json([one.document() for one in found])
    else:
        output.table(_COLUMNS, [_row(one) for one in found])


@app.command("create")
def create(context: typer.Context, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False) -> None:
    """Begin the space of the embedder that TRIBUTARY_NEXT_EMBEDDER names. Lessons learned from now on get a vector there too.

    \b
    Example: TRIBUTARY_NEXT_EMBEDDER=minilm tributary space create
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        made = operator.create_space(tribe)
    lacking = counted(made.missing, "lesson")
    said = f"The tribe '{shown(tribe)}' builds the space '{shown(made.name)}'; {lacking} without a vector there."
    output.result({"tribe": tribe, **made.document()}, [said])


@app.command("build")
def build(
    context: typer.Context, space: Space = None, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False
) -> None:
    """Embed what lacks a vector in a space, and build its index if it needs one. Safe to repeat, and to interrupt.

    \b
    Example: TRIBUTARY_NEXT_EMBEDDER=minilm tributary space build
    """
    doors, output = session(context, as_json=as_json)
    bar = _Bar()
    with operator_of(doors, cell) as operator:
        try:
            built = operator.build_space(tribe, space, progress=bar.at)
        finally:
            bar.end()
    left = "none is left" if not built.left else f"{built.left} are left: build it again"
    lines = [f"The space '{shown(built.space)}' got {counted(built.made, 'vector')}; {left}."]
    if built.indexed:
        lines.append("The tribe has an index of its own there.")
    output.result({"tribe": tribe, "space": built.space, "made": built.made, "left": built.left, "indexed": built.indexed}, lines)
    if built.left:
        raise typer.Exit(exit_for("overloaded"))


@app.command("switch")
def switch(
    context: typer.Context,
    space: Space = None,
    exact: Annotated[bool, typer.Option("--exact", help="Even without an index that a large tribe needs.")] = False,
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Serve from another space from the next tick on, once every lesson has a vector there. The old one is kept.

    \b
    Example: tributary space switch
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        done = operator.switch_space(tribe, space, exact=exact)
    lines = [
        f"From tick {done.tick} on the tribe '{shown(tribe)}' serves from the space '{shown(done.after)}'.",
        f"The space '{shown(done.before)}' is kept, to switch back to, until it is dropped.",
    ]
    output.result({"tribe": tribe, "from": done.before, "to": done.after, "tick": done.tick}, lines)


@app.command("drop")
def drop(
    context: typer.Context,
    space: Annotated[str, typer.Option("--space", metavar="SPACE", help="The space's name or number.")],
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Remove a space with its vectors and index; never the one that is served from. Safe to repeat.

    \b
    Example: tributary space drop --space 1
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        done = operator.drop_space(tribe, space)
    lines = [
        f"The space '{shown(done.space)}', with {counted(done.vectors, 'vector')}, was removed from the tribe '{shown(tribe)}'."
    ]
    if done.forgotten:
        lines.append("No other tribe has it, so it is forgotten: receipts from it can be read, but not checked any more.")
    output.result({"tribe": tribe, "space": done.space, "vectors": done.vectors, "forgotten": done.forgotten}, lines)


def _row(space: TribeSpace) -> tuple[str, str, str, str, str, str]:
    index = "yes" if space.indexed else "no"
    return str(space.number), shown(space.name), space.state.value, str(space.vectors), str(space.missing), index


class _Bar:
    """How far a build has come, on a terminal."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()
        self._next = time.monotonic() + _BETWEEN_PROGRESS_S
        self._shown = False

    def at(self, made: int, left: int) -> None:
        if self._shows and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_PROGRESS_S
            self._shown = True
            full = _BAR * made // max(1, made + left)
            sys.stderr.write(f"\r[{'#' * full}{'.' * (_BAR - full)}] {made} of {made + left} vectors")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
