"""Who may use the memory: agents, their roles and their tokens."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.contract import agents as contract
from tributary.core import ids
from tributary.core.agent import Role
from tributary.edges.lambda_http import agent_words as words
from tributary.edges.lambda_http.operations.ask import Ask, Operation, page_of
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _agents(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    page = ask.memory.desk.agents(principal, **page_of(given))
    return of_model(words.agents(page))


def _create_agent(ask: Ask) -> HttpReply:
    ask.query()
    request, principal = ask.body(contract.CreateAgentRequest), ask.principal
    made = ask.memory.agents.create(principal, request.name, Role(request.role), days=request.days)
    return of_model(words.new_token(made))


def _agent(ask: Ask) -> HttpReply:
    ask.query()
    principal, agent_id = ask.principal, ask.id()
    return of_model(words.agent(ask.memory.desk.agent(principal, agent_id)))


def _tokens(ask: Ask) -> HttpReply:
    given, principal, agent_id = ask.query(), ask.principal, ask.id()
    page = ask.memory.desk.tokens(principal, agent_id, **page_of(given))
    return of_model(words.tokens(page))


def _new_token(ask: Ask) -> HttpReply:
    ask.query()
    request, principal, agent_id = ask.body(contract.NewTokenRequest), ask.principal, ask.id()
    newest = None if request.newest is None else ids.parse(ids.Prefix.TOKEN, request.newest, field="newest")
    made = ask.memory.agents.new_token(principal, agent_id, days=request.days, revoke_others=request.revoke_others, newest=newest)
    return of_model(words.new_token(made))


def _revoke_agent(ask: Ask) -> HttpReply:
    ask.query()
    ask.body(contract.RevokeRequest)
    principal, agent_id = ask.principal, ask.id()
    return of_model(words.agent(ask.memory.agents.revoke(principal, agent_id)))


def _set_role(ask: Ask) -> HttpReply:
    ask.query()
    request, principal, agent_id = ask.body(contract.RoleRequest), ask.principal, ask.id()
    return of_model(words.agent(ask.memory.agents.set_role(principal, agent_id, Role(request.role))))


def _revoke_token(ask: Ask) -> HttpReply:
    ask.query()
    ask.body(contract.RevokeRequest)
    principal, token_id = ask.principal, ask.id()
    return of_model(words.token(ask.memory.agents.revoke_token(principal, token_id)))


AGENTS: Mapping[str, Operation] = {
    "agents": _agents,
    "create_agent": _create_agent,
    "agent": _agent,
    "tokens": _tokens,
    "new_token": _new_token,
    "revoke_agent": _revoke_agent,
    "set_role": _set_role,
    "revoke_token": _revoke_token,
}
