"""Agents and their tokens, as curators manage them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString
from uuid import UUID

from tributary.access.tokens import new_token, token_hash
from tributary.core.agent import Agent, NewToken, Principal, Role, Token
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest
from tributary.core.ids import new_id
from tributary.core.limits import check_agent_name
from tributary.store import Database, rows, statement

DAYS = 365
"""For how many days a token is good unless its maker says otherwise."""
MOST_DAYS = 3650
MOST_AGENTS = 1000
"""Agents of a tribe that are not revoked."""
MOST_TOKENS = 20
"""Tokens of an agent that are let in."""


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Changes who may use a tribe's memory. For curators, by the role that is stored when the change is made; each is audited.

    A tribe always keeps a curator who can act: what would take the last one, or its last usable token, raises WrongStanding.
    Other than a write of knowledge, a change takes no idempotency key, since the secret that it gives cannot be kept.
    """

    database: Database
    now: Now = utc_now
    cell: str | None = None
    """The name of the database, which its tokens carry."""

    def create(self, principal: Principal, name: str, role: Role, *, days: int = DAYS) -> NewToken:
        """Makes an agent and its first token, whose secret is given this once.

        Raises WrongStanding when the name is taken, by a revoked agent too, or when the tribe has MOST_AGENTS.
        """
        principal.require(Role.CURATOR)
        check_agent_name("name", name)
        made = self._made(days)
        return made.of(
            self._agent(
                statement("access", "manage_create"),
                principal,
                agent_id=new_id(),
                name=name,
                role=role.value,
                most_agents=MOST_AGENTS,
                most_tokens=MOST_TOKENS,
                **made.parameters,
            )
        )

    def new_token(
        self,
        principal: Principal,
        agent_id: UUID,
        *,
        days: int = DAYS,
        revoke_others: bool = False,
        newest: UUID | None = None,
    ) -> NewToken:
        """Gives an agent another token, beside those that it has or in place of all of them.

        Raises NotFound, and WrongStanding when the agent is revoked, has MOST_TOKENS usable tokens, or has a newer token than
        `newest`.
        """
        principal.require(Role.CURATOR)
        made = self._made(days)
        return made.of(
            self._agent(
                statement("access", "manage_new_token"),
                principal,
                agent_id=agent_id,
                revoke_others=revoke_others,
                newest=newest,
                most_tokens=MOST_TOKENS,
                **made.parameters,
            )
        )

    def revoke_token(self, principal: Principal, token_id: UUID) -> Token:
        """Ends one token; its agent and its other tokens go on. Keeps the first time when it was revoked. Raises NotFound."""
        principal.require(Role.CURATOR)
        return token_of(self._document(statement("access", "manage_revoke_token"), principal, token_id=token_id))

    def revoke(self, principal: Principal, agent_id: UUID) -> Agent:
        """Ends an agent and all its tokens for good; what it taught stays. Raises NotFound."""
        principal.require(Role.CURATOR)
        return self._agent(statement("access", "manage_revoke"), principal, agent_id=agent_id)

    def set_role(self, principal: Principal, agent_id: UUID, role: Role) -> Agent:
        """Gives an agent another role, from its next request on. Raises NotFound, and WrongStanding when it is revoked."""
        principal.require(Role.CURATOR)
        return self._agent(statement("access", "manage_set_role"), principal, agent_id=agent_id, role=role.value)

    def _made(self, days: int) -> MadeToken:
        return make_token(days, now=self.now(), cell=self.cell)

    def _agent(self, query: LiteralString, principal: Principal, **parameters: object) -> Agent:
        return agent_of(self._document(query, principal, **parameters))

    def _document(self, query: LiteralString, principal: Principal, **parameters: object) -> rows.Document:
        # The id of the audit's line is what a statement that is sent again is known by.
        who = {"tribe_id": principal.tribe_id, "actor_id": principal.agent_id, "audit_id": new_id(), "now": self.now()}
        return rows.document(self.database.value(query, {**who, **parameters}))


@dataclass(frozen=True, kw_only=True)
class MadeToken:
    """A new token, before it is stored by its hash."""

    token_id: UUID
    secret: str
    expires_at: datetime

    @property
    def parameters(self) -> dict[str, object]:
        """What the database is told of it."""
        return {"token_id": self.token_id, "token_hash": token_hash(self.secret), "expires_at": self.expires_at}

    def of(self, agent: Agent) -> NewToken:
        return NewToken(agent=agent, token_id=self.token_id, secret=self.secret, expires_at=self.expires_at)


def make_token(days: int, *, now: datetime, cell: str | None = None) -> MadeToken:
    """Returns a new token of a cell that is good for `days` from `now`; raises InvalidRequest for none or too many."""
    if not 1 <= days <= MOST_DAYS:
        raise InvalidRequest("days", f"must be from 1 to {MOST_DAYS}")
    return MadeToken(token_id=new_id(), secret=new_token(cell), expires_at=now + timedelta(days=days))


def agent_of(row: rows.Document) -> Agent:
    """Returns an agent from a row by column name, or from its JSON."""
    return Agent(
        agent_id=rows.uuid(row["agent_id"]),
        name=row["name"],
        role=Role(row["role"]),
        created_at=rows.moment(row["created_at"]),
        revoked_at=rows.moment_or_none(row["revoked_at"]),
        last_used_at=rows.moment_or_none(row["last_used_at"]),
        principals=tuple(row.get("principals", ())),
    )


def token_of(row: rows.Document) -> Token:
    """Returns a token from a row by column name, or from its JSON."""
    return Token(
        token_id=rows.uuid(row["token_id"]),
        agent_id=rows.uuid(row["agent_id"]),
        created_at=rows.moment(row["created_at"]),
        expires_at=rows.moment(row["expires_at"]),
        revoked_at=rows.moment_or_none(row["revoked_at"]),
        last_used_at=rows.moment_or_none(row["last_used_at"]),
    )
