"""`tributary agent`: who may use a tribe's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell, RoleName, Tribe
from tributary.edges.cli.tokens import token_document, token_lines
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.core.agent import Agent, NewToken, Token
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.faces import OperatorFace
    from tributary.edges.cli.output import Output

app = typer.Typer(
    help="Make, list and revoke agents, each with tokens and a role of one tribe. For operators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


AgentName = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name.")]
Days = Annotated[int, typer.Option(metavar="NUMBER", min=1, help="For how many days its token is good.")]
PrincipalArn = Annotated[
    str, typer.Option("--principal", metavar="ARN", help="The IAM role or user: arn:aws:iam::123456789012:role/incident-agent.")
]
Keep = Annotated[bool, typer.Option("--keep", help="Make it the token that commands on this computer use for the local server.")]


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new agent's name.")],
    role: Annotated[
        RoleName,
        typer.Option(help="A reader recalls; a writer learns as well; what a curator learns replaces what it contradicts."),
    ],
    tribe: Tribe = "default",
    days: Days = 365,
    keep: Keep = False,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Make an agent and its token, which is shown this once.

    \b
    Example: tributary agent create agent-a --role writer
    """
    from tributary.core.agent import Role

    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        made = operator.create_agent(tribe, name, Role(role.value), days=days)
    _show_token(doors, output, tribe, made, keep=keep)


@app.command("list")
def list_agents(context: typer.Context, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False) -> None:
    """List a tribe's agents.

    \b
    Example: tributary agent list --tribe payments
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        agents = operator.agents(tribe)
    if as_json:
        output.json([_document(one) for one in agents])
        return
    rows = [
        (
            shown(one.name),
            one.role.value,
            moment(one.created_at),
            moment(one.last_used_at) if one.last_used_at else "never",
            f"revoked {moment(one.revoked_at)}" if one.revoked_at else "in use",
            _principals(one),
        )
        for one in agents
    ]
    headings = ("agent", "role", "made", "last used", "standing", "AWS principals")
    columns = tuple((heading, "left") for heading in headings)
    output.table(columns, rows)


@app.command("revoke")
def revoke(
    context: typer.Context,
    name: AgentName,
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Revoke an agent: its tokens stop working, within a minute on every server. Its lessons stay.

    \b
    Example: tributary agent revoke agent-a
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        agent = operator.revoke_agent(tribe, name)
        _warn_without_curator(operator, output, tribe)
    output.result(_document(agent), [f"Agent '{shown(agent.name)}' is revoked."])


@app.command("bind")
def bind(
    context: typer.Context,
    name: AgentName,
    principal: PrincipalArn,
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Let whoever acts as an IAM role or user act as an agent.

    That is where API Gateway checks AWS signatures.

    \b
    Example: tributary agent bind agent-a --principal arn:aws:iam::123456789012:role/incident-agent
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        _show_principals(output, operator.bind(tribe, name, principal))


@app.command("unbind")
def unbind(
    context: typer.Context,
    name: AgentName,
    principal: PrincipalArn,
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """End that an IAM role or user acts as an agent, within a minute on every server.

    \b
    Example: tributary agent unbind agent-a --principal arn:aws:iam::123456789012:role/incident-agent
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        _show_principals(output, operator.unbind(tribe, name, principal))


@app.command("tokens")
def tokens(context: typer.Context, name: AgentName, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False) -> None:
    """List an agent's tokens, newest first, never their secrets.

    \b
    Example: tributary agent tokens agent-a
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        found = operator.tokens_of(tribe, name)
    if as_json:
        output.json([_token_document(one) for one in found])
        return
    rows = [
        (
            _token_id(one),
            moment(one.created_at),
            moment(one.expires_at),
            moment(one.last_used_at) if one.last_used_at else "never",
            f"revoked {moment(one.revoked_at)}" if one.revoked_at else "not revoked",
        )
        for one in found
    ]
    columns = (("token", "left"), ("made", "left"), ("good until", "left"), ("last used", "left"), ("standing", "left"))
    output.table(columns, rows)


@app.command("rotate")
def rotate(
    context: typer.Context,
    name: AgentName,
    tribe: Tribe = "default",
    days: Days = 365,
    keep_others: Annotated[
        bool, typer.Option("--keep-others", help="Leave the tokens that it has as they are, to be revoked later.")
    ] = False,
    keep: Keep = False,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Give an agent a new token, which is shown this once, in place of those that it has.

    \b
    Example: tributary agent rotate agent-a --days 90
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        made = operator.rotate(tribe, name, days=days, keep_others=keep_others)
    _show_token(doors, output, tribe, made, keep=keep)


@app.command("revoke-token")
def revoke_token(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="The token's id, as 'tributary agent tokens' shows it: tok_...")],
    tribe: Tribe = "default",
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Revoke one token: it stops working, within a minute on every server. Its agent and its other tokens go on.

    \b
    Example: tributary agent revoke-token tok_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f
    """
    from tributary.core import ids

    doors, output = session(context, as_json=as_json)
    wanted = ids.parse(ids.Prefix.TOKEN, token, field="token")
    with operator_of(doors, cell) as operator:
        ended = operator.revoke_token(tribe, wanted)
        _warn_without_curator(operator, output, tribe)
    output.result(_token_document(ended), [f"Token {_token_id(ended)} is revoked."])


def _show_principals(output: Output, agent: Agent) -> None:
    output.result(_document(agent), [f"Agent '{shown(agent.name)}' is acted as by: {_principals(agent)}."])


def _principals(agent: Agent) -> str:
    return ", ".join(map(shown, agent.principals)) or "none"


def _token_id(token: Token) -> str:
    """Returns a token's id as users see it."""
    from tributary.core import ids

    return ids.show(ids.Prefix.TOKEN, token.token_id)


def _show_token(doors: Doors, output: Output, tribe: str, made: NewToken, *, keep: bool) -> None:
    document = {"tribe": tribe, **token_document(made)}
    lines = token_lines(made)
    if keep:
        from tributary.edges.cli.connection import keep_token

        kept = keep_token(doors.environment, made.secret)
        document["kept_in"] = str(kept)
        lines.append(f"It is kept in {shown(str(kept))} for commands on this computer.")
    output.result(document, lines)


def _warn_without_curator(operator: OperatorFace, output: Output, tribe: str) -> None:
    if not operator.has_curator(tribe):
        output.remark(
            f"Warning: the tribe '{shown(tribe)}' has no curator left who can act; "
            "'tributary agent create NAME --role curator' makes one."
        )


def _document(agent: Agent) -> dict[str, object]:
    from tributary.core import ids

    return {
        "id": ids.show(ids.Prefix.AGENT, agent.agent_id),
        "name": agent.name,
        "role": agent.role.value,
        "created_at": agent.created_at.isoformat(),
        "revoked_at": agent.revoked_at.isoformat() if agent.revoked_at else None,
        "last_used_at": agent.last_used_at.isoformat() if agent.last_used_at else None,
        "principals": list(agent.principals),
    }


def _token_document(token: Token) -> dict[str, object]:
    return {
        "id": _token_id(token),
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at.isoformat(),
        "revoked_at": token.revoked_at.isoformat() if token.revoked_at else None,
        "last_used_at": token.last_used_at.isoformat() if token.last_used_at else None,
    }
