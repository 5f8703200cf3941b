"""`tributary tribe`: the shared memories of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli import known_tribes
from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell
from tributary.edges.cli.tokens import token_document, token_lines
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.output import Output
    from tributary.service import Settings
    from tributary.service.operator import Tribe

_NO_TRIBE = "There is no tribe yet; make one with 'tributary tribe create NAME'."
_COLUMNS = (("tribe", "left"), ("tick", "right"), ("made", "left"))

app = typer.Typer(
    help="Make and list tribes: each is one shared memory, closed to all others. For operators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new tribe's name.")],
    curator: Annotated[str, typer.Option(metavar="NAME", help="Name of its first agent, a curator.")] = "curator",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Make a tribe and its first curator, whose token is shown this once.

    \b
    Example: tributary tribe create payments --curator alice
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        made = operator.create_tribe(name, curator=curator)
    known_tribes.remember(doors.environment, [made.tribe.name], all_there_are=False)
    document = {"tribe": made.tribe.name, **token_document(made.token)}
    lines = [f"Tribe '{shown(made.tribe.name)}' was made.", *token_lines(made.token)]
    output.result(document, lines)


@app.command("list")
def list_tribes(context: typer.Context, cell: Cell = None, as_json: AsJson = False) -> None:
    """List the tribes of this database; of several cells, those of all.

    \b
    Example: tributary tribe list
    """
    doors, output = session(context, as_json=as_json)
    if cell is None and doors.open_remote_operator is None and len((settings := doors.load_settings(False)).cell_names) > 1:
        _list_all(doors, output, settings)
        return
    with operator_of(doors, cell) as operator:
        tribes = operator.tribes()
    known_tribes.remember(
        doors.environment, [one.name for one in tribes], all_there_are=cell is None and doors.open_remote_operator is None
    )
    if as_json:
        output.json([_document(one) for one in tribes])
    elif not tribes:
        output.remark(_NO_TRIBE)
    else:
        output.table(_COLUMNS, [_row(one) for one in tribes])


@app.command("index")
def index(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tribe's name.")],
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Build a tribe's own vector index, once it has outgrown exact search. Safe to repeat, and while it is in use.

    \b
    Example: tributary tribe index payments
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        built = operator.build_index(name)
    said = "The tribe has an index of its own." if built else "No index is needed yet: exact search serves this tribe."
    output.result({"tribe": name, "index": built}, [said])


def _list_all(doors: Doors, output: Output, settings: Settings) -> None:
    """Lists the tribes of every cell that answers; ends by the failure of one that does not."""
    from tributary.core.cells import shown_cell
    from tributary.edges.cli.cells import each_cell, end_by

    answers = each_cell(doors, settings, lambda operator: operator.tribes())
    found = [(one.cell, tribe) for one in answers for tribe in one.found or ()]
    if output.as_json:
        output.json([{**_document(tribe), "cell": cell} for cell, tribe in found])
    elif found:
        output.table((("cell", "left"), *_COLUMNS), [(shown_cell(cell), *_row(tribe)) for cell, tribe in found])
    elif all(one.failure is None for one in answers):
        output.remark(_NO_TRIBE)
    end_by(answers, as_json=output.as_json)


def _row(tribe: Tribe) -> tuple[str, str, str]:
    return shown(tribe.name), str(tribe.clock), moment(tribe.created_at)


def _document(tribe: Tribe) -> dict[str, object]:
    return {
        "id": str(tribe.tribe_id),
        "name": tribe.name,
        "tick": tribe.clock,
        "created_at": tribe.created_at.isoformat(),
    }
