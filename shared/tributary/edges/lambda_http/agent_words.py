"""Between the contract's models of agents and tokens and the core's types."""

from __future__ import annotations

from tributary.contract import agents as contract
from tributary.core import ids
from tributary.core.agent import Agent, NewToken, Token
from tributary.core.requests import Page
from tributary.edges.lambda_http.translate import receipt


def agent(one: Agent) -> contract.AgentReply:
    return contract.AgentReply(
        id=ids.show(ids.Prefix.AGENT, one.agent_id),
        name=one.name,
        role=one.role.value,
        created_at=one.created_at,
        revoked_at=one.revoked_at,
        last_used_at=one.last_used_at,
    )


def agents(page: Page[Agent]) -> contract.AgentsReply:
    return contract.AgentsReply(agents=[agent(one) for one in page.items], next=page.next_before, receipt=receipt(page.receipt))


def new_token(made: NewToken) -> contract.NewTokenReply:
    return contract.NewTokenReply(
        agent=agent(made.agent),
        id=ids.show(ids.Prefix.TOKEN, made.token_id),
        token=made.secret,
        expires_at=made.expires_at,
    )


def token(one: Token) -> contract.TokenReply:
    return contract.TokenReply(
        id=ids.show(ids.Prefix.TOKEN, one.token_id),
        agent=ids.show(ids.Prefix.AGENT, one.agent_id),
        created_at=one.created_at,
        expires_at=one.expires_at,
        revoked_at=one.revoked_at,
        last_used_at=one.last_used_at,
    )


def tokens(page: Page[Token]) -> contract.TokensReply:
    return contract.TokensReply(tokens=[token(one) for one in page.items], next=page.next_before, receipt=receipt(page.receipt))
