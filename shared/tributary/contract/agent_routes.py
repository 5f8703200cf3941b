"""Routes about who may use the memory. None takes an Idempotency-Key: a secret is not kept, so no reply could be given again."""

from __future__ import annotations

from tributary.contract import agents
from tributary.contract.curation_routes import PAGE
from tributary.contract.route import Route

AGENTS: tuple[Route, ...] = (
    Route(
        operation="agents",
        method="GET",
        path="/v1/agents",
        function="curate",
        role="curator",
        summary="List the tribe's agents, newest first",
        reply=agents.AgentsReply,
        query=PAGE,
    ),
    Route(
        operation="create_agent",
        method="POST",
        path="/v1/agents",
        function="curate",
        role="curator",
        summary="Make an agent and its first token, which is shown this once",
        request=agents.CreateAgentRequest,
        reply=agents.NewTokenReply,
    ),
    Route(
        operation="tokens",
        method="GET",
        path="/v1/agents/{id}/tokens",
        function="curate",
        role="curator",
        summary="List an agent's tokens, newest first, without their secrets",
        reply=agents.TokensReply,
        query=PAGE,
        id_of="agt",
    ),
    Route(
        operation="new_token",
        method="POST",
        path="/v1/agents/{id}/tokens",
        function="curate",
        role="curator",
        summary="Give an agent another token, which is shown this once",
        request=agents.NewTokenRequest,
        reply=agents.NewTokenReply,
        id_of="agt",
    ),
    Route(
        operation="revoke_agent",
        method="POST",
        path="/v1/agents/{id}/revoke",
        function="curate",
        role="curator",
        summary="End an agent and all its tokens; what it taught stays",
        request=agents.RevokeRequest,
        reply=agents.AgentReply,
        id_of="agt",
    ),
    Route(
        operation="set_role",
        method="PUT",
        path="/v1/agents/{id}/role",
        function="curate",
        role="curator",
        summary="Give an agent another role",
        request=agents.RoleRequest,
        reply=agents.AgentReply,
        id_of="agt",
    ),
    Route(
        operation="revoke_token",
        method="POST",
        path="/v1/tokens/{id}/revoke",
        function="curate",
        role="curator",
        summary="End one token",
        request=agents.RevokeRequest,
        reply=agents.TokenReply,
        id_of="tok",
    ),
)
