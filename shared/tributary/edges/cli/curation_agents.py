"""`tributary curate agents`, `add-agent`, `tokens` and what else curators do about agents, over HTTP through the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson, RoleName
from tributary.edges.cli.paging import Before, Limit, page_document, say_more, show_rows
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from datetime import datetime

    from tributary.client import Agent, Memory, NewToken

WhichAgent = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name, or its id: agt_...")]
Days = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=3650, help="For how many days its token is good.")]


def agents(context: typer.Context, limit: Limit = 20, before: Before = None, as_json: AsJson = False) -> None:
    """List the tribe's agents, newest first, the revoked ones too.

    \b
    Example: tributary curate agents
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.agents(page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("agents", page))
        return
    rows = [
        (shown(one.name), one.role, _standing(one.revoked_at), _used(one.last_used_at), moment(one.created_at), shown(one.id))
        for one in page.items
    ]
    show_rows(output, ("agent", "role", "standing", "last used", "made", "id"), rows, head=3)
    say_more(output, page)


def agent(context: typer.Context, agent: WhichAgent, as_json: AsJson = False) -> None:
    """Show one agent: its role, how it stands, and when it was last let in.

    \b
    Example: tributary curate agent agent-a
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.curation.agent(_id_of(memory, agent))
    lines = [
        f"Agent '{shown(found.name)}' ({shown(found.id)}) is a {found.role}, {_standing(found.revoked_at)}.",
        f"It was made {moment(found.created_at)}, and last let in: {_used(found.last_used_at)}.",
    ]
    output.result(found.model_dump(mode="json"), lines)


def add_agent(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new agent's name.")],
    role: Annotated[
        RoleName,
        typer.Option(help="A reader recalls; a writer learns as well; what a curator learns replaces what it contradicts."),
    ],
    days: Days = 365,
    as_json: AsJson = False,
) -> None:
    """Make an agent of your tribe and its token, which is shown this once.

    \b
    Example: tributary curate add-agent agent-a --role writer
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        made = memory.curation.create_agent(name, role.value, days=days)
    output.result(made.model_dump(mode="json"), _token_lines(made))


def tokens(context: typer.Context, agent: WhichAgent, limit: Limit = 20, before: Before = None, as_json: AsJson = False) -> None:
    """List an agent's tokens, newest first, never their secrets.

    \b
    Example: tributary curate tokens agent-a
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.tokens(_id_of(memory, agent), page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("tokens", page))
        return
    rows = [
        (shown(one.id), _standing(one.revoked_at), _used(one.last_used_at), moment(one.created_at), moment(one.expires_at))
        for one in page.items
    ]
    show_rows(output, ("token", "standing", "last used", "made", "good until"), rows, head=2)
    say_more(output, page)


def new_token(
    context: typer.Context,
    agent: WhichAgent,
    days: Days = 365,
    revoke_others: Annotated[bool, typer.Option("--revoke-others", help="End the tokens that it has.")] = False,
    as_json: AsJson = False,
) -> None:
    """Give an agent another token, which is shown this once.

    \b
    Example: tributary curate new-token agent-a --days 90
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        made = memory.curation.new_token(_id_of(memory, agent), days=days, revoke_others=revoke_others)
    output.result(made.model_dump(mode="json"), _token_lines(made))


def set_role(
    context: typer.Context,
    agent: WhichAgent,
    role: Annotated[RoleName, typer.Option(help="What it is to be from now on.")],
    as_json: AsJson = False,
) -> None:
    """Make an agent a reader, a writer or a curator. Its tokens stay good.

    \b
    Example: tributary curate set-role agent-a --role curator
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        changed = memory.curation.set_role(_id_of(memory, agent), role.value)
    output.result(changed.model_dump(mode="json"), [f"Agent '{shown(changed.name)}' is a {changed.role}."])


def revoke_agent(context: typer.Context, agent: WhichAgent, as_json: AsJson = False) -> None:
    """Revoke an agent: its tokens stop working, within a minute on every server. Its lessons stay.

    \b
    Example: tributary curate revoke-agent agent-a
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        ended = memory.curation.revoke_agent(_id_of(memory, agent))
    output.result(ended.model_dump(mode="json"), [f"Agent '{shown(ended.name)}' is revoked."])


def revoke_token(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="The token's id, as 'curate tokens' shows it: tok_...")],
    as_json: AsJson = False,
) -> None:
    """Revoke one token: it stops working, within a minute on every server. Its agent and its other tokens go on.

    \b
    Example: tributary curate revoke-token tok_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        ended = memory.curation.revoke_token(token)
    output.result(ended.model_dump(mode="json"), [f"Token {shown(ended.id)} is revoked."])


def _id_of(memory: Memory, given: str) -> str:
    """Returns the id of the agent that is meant; raises CommandFailed when none has that name."""
    if given.startswith("agt_"):
        return given
    found: Agent | None = next((one for one in memory.curation.agents(page_size=100) if one.name == given), None)
    if found is None:
        raise CommandFailed("not_found", f"there is no agent named '{given}'; 'tributary curate agents' lists them")
    return found.id


def _standing(revoked_at: datetime | None) -> str:
    return f"revoked {moment(revoked_at)}" if revoked_at else "in use"


def _used(last_used_at: datetime | None) -> str:
    return moment(last_used_at) if last_used_at else "never"


def _token_lines(made: NewToken) -> list[str]:
    from tributary.edges.cli.tokens import new_token_lines

    return new_token_lines(made.agent.name, made.agent.role, made.token, made.expires_at)
