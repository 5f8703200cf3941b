"""How a new token is shown, the one time that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.core.agent import NewToken


def token_document(made: NewToken) -> dict[str, object]:
    return {
        "agent": made.agent.name,
        "role": made.agent.role.value,
        "token": made.secret,
        "expires_at": made.expires_at.isoformat(),
    }


def token_lines(made: NewToken) -> list[str]:
    agent = made.agent
    return [
        f"Agent '{shown(agent.name)}' is a {agent.role.value}.",
        f"Its token, good until {moment(made.expires_at)}, is shown this once:",
        "",
        f"  {made.secret}",
        "",
        "Where the agent runs, put it into TRIBUTARY_TOKEN, and the server's address into TRIBUTARY_URL.",
    ]
