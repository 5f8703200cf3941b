"""`tributary tribe`: the shared memories of a database."""

from __future__ import annotations

from typing import Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.tokens import token_document, token_lines
from tributary.edges.cli.words import moment, shown

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
    as_json: AsJson = False,
) -> None:
    """Make a tribe and its first curator, whose token is shown this once.

    \b
    Example: tributary tribe create payments --curator alice
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        made = operator.create_tribe(name, curator=curator)
    document = {"tribe": made.tribe.name, **token_document(made.token)}
    lines = [f"Tribe '{shown(made.tribe.name)}' was made.", *token_lines(made.token)]
    output.result(document, lines)


@app.command("list")
def list_tribes(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tribes of this database.

    \b
    Example: tributary tribe list
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        tribes = operator.tribes()
    if as_json:
        output.json(
            [
                {"id": str(one.tribe_id), "name": one.name, "tick": one.clock, "created_at": one.created_at.isoformat()}
                for one in tribes
            ]
        )
    elif not tribes:
        output.remark("There is no tribe yet; make one with 'tributary tribe create NAME'.")
    else:
        rows = [(shown(one.name), str(one.clock), moment(one.created_at)) for one in tribes]
        output.table((("tribe", "left"), ("tick", "right"), ("made", "left")), rows)


@app.command("index")
def index(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tribe's name.")],
    as_json: AsJson = False,
) -> None:
    """Build a tribe's own vector index, once it has outgrown exact search. Safe to repeat, and while it is in use.

    \b
    Example: tributary tribe index payments
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        built = operator.build_index(name)
    said = "The tribe has an index of its own." if built else "No index is needed yet: exact search serves this tribe."
    output.result({"tribe": name, "index": built}, [said])
