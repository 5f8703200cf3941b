"""How a new token is shown, the one time that it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from datetime import datetime

    from tributary.core.agent import NewToken


def token_document(made: NewToken) -> dict[str, object]:
    return {
        "agent": made.agent.name,
        "role": made.agent.role.value,
        "token": made.secret,
        "expires_at": made.expires_at.isoformat(),
    }


def token_lines(made: NewToken) -> list[str]:
    return new_token_lines(made.agent.name, made.agent.role.value, made.secret, made.expires_at)


def new_token_lines(agent: str, role: str, secret: str, expires_at: datetime) -> list[str]:
    """Returns how an agent's new token is told, wherever it was made."""
    return [
        f"Agent '{shown(agent)}' is a {role}.",
        f"Its token, good until {moment(expires_at)}, is shown this once:",
        "",
        f"  {shown(secret)}",
        "",
        "Where the agent runs, put it into TRIBUTARY_TOKEN, and the server's address into TRIBUTARY_URL.",
    ]
