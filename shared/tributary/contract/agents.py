"""Requests and replies about agents and their tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from tributary.contract.models import ReceiptReply, Reply, Request
from tributary.contract.route import Role
from tributary.contract.values import Name, TokenId

Days = Annotated[int, Field(ge=1, le=3650, description="For how many days the token is good.")]


class CreateAgentRequest(Request):
    """A new agent of the tribe, with its first token."""

    name: Name
    role: Role
    days: Days = 365


class NewTokenRequest(Request):
    """Another token of an agent.

    With `revoke_others` all that it had stop working. An agent that does this to itself, and must not be locked out by a lost
    reply, takes the new token first and then revokes the old one with it.
    """

    days: Days = 365
    revoke_others: bool = False
    newest: TokenId | None = Field(
        default=None,
        description="The agent's newest token, as you know it: refused when it has a newer one, so that nothing is made twice.",
    )


class RoleRequest(Request):
    role: Role


class RevokeRequest(Request):
    """The body may be empty."""


class AgentReply(Reply):
    id: str
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="When one of its tokens was last used, to the minute.")


class AgentsReply(Reply):
    agents: list[AgentReply]
    next: str | None
    receipt: ReceiptReply


class NewTokenReply(Reply):
    """`token` is the secret. It is shown this once: only its hash is kept, so a reply that was lost cannot be given again."""

    agent: AgentReply
    id: str
    token: str
    expires_at: datetime


class TokenReply(Reply):
    """A token without its secret."""

    id: str
    agent: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = Field(description="When it, or its agent, was revoked.")
    last_used_at: datetime | None = Field(description="To the minute; null when it was never used.")


class TokensReply(Reply):
    tokens: list[TokenReply]
    next: str | None
    receipt: ReceiptReply
