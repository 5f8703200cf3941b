"""Steps about who may use the memory: agents, roles, tokens, and the tribe's policy."""

from __future__ import annotations

from typing import Any

from tributary.edges.cli.live.stage import Member, Stage
from tributary.edges.cli.live.step import Step, Unexpected, equal, holds

_DAYS = 1
"""Tokens of a run that could not clean up end by themselves."""
_PAGES = 20


def _admitted(stage: Stage) -> None:
    try:
        stage.ask("GET", "/v1/stats", by=stage.curator)
    except Unexpected as failure:
        expected = "a server that knows the curator of this run (was it made in this server's database? See --via and --token)"
        raise Unexpected(expected, failure.found) from failure


def _create_agents(stage: Stage) -> None:
    for role in ("reader", "writer", "other", "second"):
        stored = {"other": "reader", "second": "curator"}.get(role, role)
        member, found = _made(stage, role, stored)
        stage.members[role] = member
        equal("role", stored, found["agent"]["role"])


def _made(stage: Stage, name: str, role: str) -> tuple[Member, Any]:
    named = f"{stage.word}-{name}"
    stage.names.append(named)
    body = {"name": named, "role": role, "days": _DAYS}
    try:
        found = stage.ask("POST", "/v1/agents", by=stage.curator, body=body).document
    except Unexpected as failure:
        if failure.refused:
            stage.names.remove(named)
        raise
    return stage.member(found["agent"]["id"], named, found["token"]), found


def _agents(stage: Stage) -> None:
    wanted = {one.id for one in stage.members.values()}
    before = ""
    for _ in range(_PAGES):
        page = stage.ask("GET", f"/v1/agents?limit=100{before}", by=stage.curator).document
        wanted -= {one["id"] for one in page["agents"]}
        if not wanted:
            return
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    raise Unexpected("the agents of this run in the list", f"{len(wanted)} are missing")


def _agent(stage: Stage) -> None:
    other = stage.members["other"]
    found = stage.ask("GET", f"/v1/agents/{other.id}", by=stage.curator).document
    equal("agent", other.id, found["id"])
    equal("role", "reader", found["role"])


def _set_role(stage: Stage) -> None:
    other = stage.members["other"]
    found = stage.ask("PUT", f"/v1/agents/{other.id}/role", by=stage.curator, body={"role": "writer"}).document
    equal("role", "writer", found["role"])


def _new_token(stage: Stage) -> None:
    reader = stage.members["reader"]
    found = stage.ask("POST", f"/v1/agents/{reader.id}/tokens", by=stage.curator, body={"days": _DAYS}).document
    equal("agent", reader.id, found["agent"]["id"])
    holds("another token", found["token"] not in ("", reader.token), "the same one")
    stage.ids["token"], stage.ids["secret"] = found["id"], found["token"]


def _tokens(stage: Stage) -> None:
    found = stage.ask("GET", f"/v1/agents/{stage.members['reader'].id}/tokens", by=stage.curator).document["tokens"]
    equal("tokens", 2, len(found))
    equal("newest token", stage.ids["token"], found[0]["id"])
    holds("no secret among what is listed", all("token" not in one for one in found), "one")


def _revoke_token(stage: Stage) -> None:
    found = stage.ask("POST", f"/v1/tokens/{stage.ids['token']}/revoke", by=stage.curator, body={}).document
    holds("revoked_at to be set", found["revoked_at"] is not None, "null")
    # It was never used, so no authorizer remembers it from before.
    stage.problem(stage.ask("GET", "/v1/stats", token=stage.ids["secret"], status=401), "unauthenticated")


def _revoke_agent(stage: Stage) -> None:
    spare, _ = _made(stage, "spare", "curator")
    spare.close()
    found = stage.ask("POST", f"/v1/agents/{spare.id}/revoke", by=stage.curator, body={}).document
    holds("revoked_at to be set", found["revoked_at"] is not None, "null")
    stage.problem(stage.ask("GET", "/v1/stats", token=spare.token, status=401), "unauthenticated")


def _policy(stage: Stage) -> None:
    found = stage.members["reader"].memory.curation.policy()
    holds("a version of the policy", found.version >= 1, found.version)


def _set_policy(stage: Stage) -> None:
    before = stage.curator.memory.curation.policy()
    after = stage.curator.memory.curation.set_policy(before)
    equal("version", before.version + 1, after.version)
    equal("policy", before, after.model_copy(update={"version": before.version}))


PEOPLE = (
    Step(name="admitted", does=_admitted),
    Step(name="create-agents", does=_create_agents, covers=("create_agent",), needs=("admitted",)),
    Step(name="agents", does=_agents, covers=("agents",), needs=("create-agents",)),
    Step(name="agent", does=_agent, covers=("agent",), needs=("create-agents",)),
    Step(name="set-role", does=_set_role, covers=("set_role",), needs=("agent",)),
    Step(name="new-token", does=_new_token, covers=("new_token",), needs=("create-agents",)),
    Step(name="tokens", does=_tokens, covers=("tokens",), needs=("new-token",)),
    Step(name="revoke-token", does=_revoke_token, covers=("revoke_token",), needs=("new-token",)),
    Step(name="revoke-agent", does=_revoke_agent, covers=("revoke_agent",), needs=("create-agents",)),
    Step(name="policy", does=_policy, covers=("policy",), needs=("create-agents",)),
    Step(name="set-policy", does=_set_policy, covers=("set_policy",), needs=("policy",)),
)
