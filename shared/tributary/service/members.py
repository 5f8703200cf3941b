"""The agents of one tribe and their tokens, as the operator makes and finds them in one transaction of his."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tributary.access import MOST_AGENTS, MOST_TOKENS, agent_of, make_token, token_of
from tributary.core.agent import Agent, NewToken, Role, Token
from tributary.core.clock import Now
from tributary.core.errors import NotFound
from tributary.core.ids import new_id
from tributary.store import statement


@dataclass(frozen=True, kw_only=True)
class Members:
    """Agents of the tribe named `tribe`; new tokens carry the name of `cell`."""

    connection: psycopg.Connection
    tribe_id: UUID
    tribe: str
    now: Now
    cell: str | None

    def all(self) -> tuple[Agent, ...]:
        return tuple(agent_of(row) for row in self._rows(None))

    def named(self, name: str) -> Agent:
        """Returns the agent of that name; raises NotFound."""
        found = self._rows(name)
        if not found:
            raise NotFound(f"the tribe '{self.tribe}' has no agent named '{name}'")
        return agent_of(found[0])

    def make(self, name: str, role: Role, days: int) -> NewToken:
        """Makes an agent, and its first token, which is good for so many days."""
        self.connection.execute(
            statement("access", "create_agent"),
            {"tribe_id": self.tribe_id, "agent_id": new_id(), "name": name, "role": role.value, "most_agents": MOST_AGENTS},
        )
        return self.new_token(self.named(name), days)

    def new_token(self, agent: Agent, days: int) -> NewToken:
        made = make_token(days, now=self.now(), cell=self.cell)
        whose = {"tribe_id": self.tribe_id, "agent_id": agent.agent_id, "most_tokens": MOST_TOKENS, "now": self.now()}
        self.connection.execute(statement("access", "create_token"), {**whose, **made.parameters})
        return made.of(agent)

    def tokens(self, *, agent_id: UUID | None = None, token_id: UUID | None = None) -> tuple[Token, ...]:
        """Returns the tokens of an agent, or the one of that id."""
        parameters = {"tribe_id": self.tribe_id, "agent_id": agent_id, "token_id": token_id}
        cursor = self.connection.cursor(row_factory=dict_row).execute(statement("access", "tokens"), parameters)
        return tuple(token_of(row) for row in cursor.fetchall())

    def _rows(self, name: str | None) -> list[dict[str, object]]:
        parameters = {"tribe_id": self.tribe_id, "name": name}
        return self.connection.cursor(row_factory=dict_row).execute(statement("access", "agents"), parameters).fetchall()
