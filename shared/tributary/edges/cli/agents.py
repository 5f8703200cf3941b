"""`tributary agent`: who may use a tribe's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, RoleName, Tribe
from tributary.edges.cli.tokens import token_document, token_lines
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.core.agent import Agent

app = typer.Typer(
    help="Make, list and revoke agents, each with a token and a role of one tribe. For operators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new agent's name.")],
    role: Annotated[
        RoleName,
        typer.Option(help="A reader recalls; a writer learns as well; what a curator learns replaces what it contradicts."),
    ],
    tribe: Tribe = "default",
    days: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="For how many days its token is good.")] = 365,
    keep: Annotated[
        bool, typer.Option("--keep", help="Make it the token that commands on this computer use for the local server.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make an agent and its token, which is shown this once.

    \b
    Example: tributary agent create agent-a --role writer
    """
    from tributary.core.agent import Role

    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        made = operator.create_agent(tribe, name, Role(role.value), days=days)
    document = {"tribe": tribe, **token_document(made)}
    lines = token_lines(made)
    if keep:
        from tributary.edges.cli.connection import keep_token

        kept = keep_token(doors.environment, made.secret)
        document["kept_in"] = str(kept)
        lines.append(f"It is kept in {shown(str(kept))} for commands on this computer.")
    output.result(document, lines)


@app.command("list")
def list_agents(context: typer.Context, tribe: Tribe = "default", as_json: AsJson = False) -> None:
    """List a tribe's agents.

    \b
    Example: tributary agent list --tribe payments
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        agents = operator.agents(tribe)
    if as_json:
        output.json([_document(one) for one in agents])
        return
    rows = [
        (
            shown(one.name),
            one.role.value,
            moment(one.created_at),
            f"revoked {moment(one.revoked_at)}" if one.revoked_at else "in use",
        )
        for one in agents
    ]
    output.table((("agent", "left"), ("role", "left"), ("made", "left"), ("standing", "left")), rows)


@app.command("revoke")
def revoke(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")],
    tribe: Tribe = "default",
    as_json: AsJson = False,
) -> None:
    """Revoke an agent: its tokens stop working, within a minute on every server. Its lessons stay.

    \b
    Example: tributary agent revoke agent-a
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors) as operator:
        agent = operator.revoke_agent(tribe, name)
    output.result(_document(agent), [f"Agent '{shown(agent.name)}' is revoked."])


def _document(agent: Agent) -> dict[str, object]:
    from tributary.core import ids

    return {
        "id": ids.show(ids.Prefix.AGENT, agent.agent_id),
        "name": agent.name,
        "role": agent.role.value,
        "created_at": agent.created_at.isoformat(),
        "revoked_at": agent.revoked_at.isoformat() if agent.revoked_at else None,
    }
