"""Agents and tokens for tests of the HTTP edge: notes what it is asked and answers simply."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from tests.contract.stand_in_curation import Note
from tributary.access import Agents
from tributary.core.agent import Agent, NewToken, Principal, Role, Token

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
AGENT, TOKEN = UUID(int=7), UUID(int=8)


def agent_of(agent_id: UUID = AGENT, *, name: str = "made", role: Role = Role.WRITER) -> Agent:
    return Agent(agent_id=agent_id, name=name, role=role, created_at=AT, revoked_at=None, last_used_at=AT)


def token_of(token_id: UUID = TOKEN, *, agent_id: UUID = AGENT) -> Token:
    return Token(token_id=token_id, agent_id=agent_id, created_at=AT, expires_at=AT, revoked_at=None, last_used_at=None)


class StandInAgents(Agents):
    """Gives everything as done."""

    def __init__(self, note: Note) -> None:
        object.__setattr__(self, "note", note)

    note: Note

    def create(self, principal: Principal, name: str, role: Role, *, days: int = 365) -> NewToken:
        self.note("create_agent", principal=principal, called=name, role=role, days=days)
        return NewToken(agent=agent_of(name=name, role=role), token_id=TOKEN, secret="trb_made", expires_at=AT)

    def new_token(
        self,
        principal: Principal,
        agent_id: UUID,
        *,
        days: int = 365,
        revoke_others: bool = False,
        newest: UUID | None = None,
    ) -> NewToken:
        self.note("new_token", principal=principal, agent_id=agent_id, days=days, revoke_others=revoke_others, newest=newest)
        return NewToken(agent=agent_of(agent_id), token_id=TOKEN, secret="trb_made", expires_at=AT)

    def revoke_token(self, principal: Principal, token_id: UUID) -> Token:
        self.note("revoke_token", principal=principal, token_id=token_id)
        return token_of(token_id)

    def revoke(self, principal: Principal, agent_id: UUID) -> Agent:
        self.note("revoke_agent", principal=principal, agent_id=agent_id)
        return agent_of(agent_id)

    def set_role(self, principal: Principal, agent_id: UUID, role: Role) -> Agent:
        self.note("set_role", principal=principal, agent_id=agent_id, role=role)
        return agent_of(agent_id, role=role)
