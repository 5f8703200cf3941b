"""One function per operation about agents and tokens: from arguments to the request to send and how to read its reply. Pure.

None takes an idempotency key, since no secret is kept that could be given again. So what makes a secret is sent once: a reply
that was lost is an error, and whoever asks again looks first at what was made.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from tributary.client.calls import Call, Method, page_query
from tributary.client.curation_calls import ListingPage
from tributary.client.ids import AgentRef, TokenRef, agent_id, token_id
from tributary.client.receipts import read_receipt
from tributary.client.replies import read
from tributary.client.values import body_of, checked
from tributary.contract import agents as about
from tributary.contract.models import Request
from tributary.contract.route import Role

Model = TypeVar("Model", bound=BaseModel)


def agents(*, page_size: int, before: str | None) -> Call[ListingPage[about.AgentReply]]:
    def read_page(body: bytes) -> ListingPage[about.AgentReply]:
        reply = read(about.AgentsReply, body)
        return ListingPage(items=tuple(reply.agents), next=reply.next, receipt=read_receipt(body))

    return Call(operation="agents", method="GET", path="/v1/agents", query=page_query(page_size, before), read=read_page)


def agent(which: AgentRef) -> Call[about.AgentReply]:
    path = f"/v1/agents/{agent_id(which)}"
    return Call(operation="agent", method="GET", path=path, read=lambda body: read(about.AgentReply, body))


def tokens(which: AgentRef, *, page_size: int, before: str | None) -> Call[ListingPage[about.TokenReply]]:
    def read_page(body: bytes) -> ListingPage[about.TokenReply]:
        reply = read(about.TokensReply, body)
        return ListingPage(items=tuple(reply.tokens), next=reply.next, receipt=read_receipt(body))

    path = f"/v1/agents/{agent_id(which)}/tokens"
    return Call(operation="tokens", method="GET", path=path, query=page_query(page_size, before), read=read_page)


def create_agent(name: str, role: Role, *, days: int) -> Call[about.NewTokenReply]:
    request = checked(lambda: about.CreateAgentRequest(name=name, role=role, days=days))
    return _change("create_agent", "POST", "/v1/agents", request, about.NewTokenReply, again=False)


def new_token(which: AgentRef, *, days: int, revoke_others: bool, newest: TokenRef | None) -> Call[about.NewTokenReply]:
    known = None if newest is None else token_id(newest)
    request = checked(lambda: about.NewTokenRequest(days=days, revoke_others=revoke_others, newest=known))
    return _change("new_token", "POST", f"/v1/agents/{agent_id(which)}/tokens", request, about.NewTokenReply, again=False)


def set_role(which: AgentRef, role: Role) -> Call[about.AgentReply]:
    request = checked(lambda: about.RoleRequest(role=role))
    return _change("set_role", "PUT", f"/v1/agents/{agent_id(which)}/role", request, about.AgentReply)


def revoke_agent(which: AgentRef) -> Call[about.AgentReply]:
    return _change("revoke_agent", "POST", f"/v1/agents/{agent_id(which)}/revoke", about.RevokeRequest(), about.AgentReply)


def revoke_token(which: TokenRef) -> Call[about.TokenReply]:
    return _change("revoke_token", "POST", f"/v1/tokens/{token_id(which)}/revoke", about.RevokeRequest(), about.TokenReply)


def _change(
    operation: str, method: Method, path: str, request: Request, reply: type[Model], *, again: bool = True
) -> Call[Model]:
    return Call(
        operation=operation, method=method, path=path, body=body_of(request), read=lambda body: read(reply, body), again=again
    )
