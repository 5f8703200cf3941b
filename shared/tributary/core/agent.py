"""Agents, their roles, and the principal that a request acts as."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core.errors import Forbidden


class Role(StrEnum):
    """What an agent may do; each role may do all that the ones before it may."""

    READER = "reader"
    WRITER = "writer"
    CURATOR = "curator"

    def may_act_as(self, needed: Role) -> bool:
        order = tuple(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The stored agent behind a token; never built from what a caller says of itself."""

    tribe_id: UUID
    agent_id: UUID
    name: str
    role: Role
    cell: str | None = None
    """The cell that its tribe lives in; None for the process's own database where that has no name."""

    def require(self, needed: Role) -> None:
        """Raises Forbidden when the role does not reach `needed`."""
        if not self.role.may_act_as(needed):
            raise Forbidden(f"the role of agent '{self.name}' is {self.role}; this needs {needed}")


@dataclass(frozen=True, kw_only=True)
class Agent:
    agent_id: UUID
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = None
    """When it was last let in, by a token or as an AWS principal, to the minute; None when it never was."""
    principals: tuple[str, ...] = ()
    """ARNs of the AWS principals that act as it; told to the operator alone."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """What may be shown of a token: all but its secret, which only its holder has."""

    token_id: UUID
    agent_id: UUID
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    """When it, or its agent, was revoked."""
    last_used_at: datetime | None
    """To the minute; None when it was never used."""


@dataclass(frozen=True, kw_only=True)
class NewToken:
    """A token's secret, shown this once; only its hash is stored."""

    agent: Agent
    token_id: UUID
    secret: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    """A session at the dashboard. Its secret is given this once, and stands for the agent until `ends_at`."""

    secret: str = field(repr=False)
    principal: Principal
    ends_at: datetime
