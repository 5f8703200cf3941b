"""Agents and tokens over the real gateway: who may, what is shown once, and that what is revoked stops at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from tests.tribes import Tribal, open_tribal
from tributary.access.agents import DAYS, MOST_DAYS
from tributary.contract import agents as contract
from tributary.contract.agent_routes import AGENTS
from tributary.core.agent import Role
from tributary.core.errors import InvalidRequest
from tributary.core.limits import NAME_PATTERN, check_name
from tributary.edges.gateway import running

AGENT, TOKEN = "agt_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f", "tok_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f"
BODIES: dict[str, dict[str, object]] = {
    "create_agent": {"name": "worker", "role": "writer"},
    "set_role": {"role": "reader"},
}


class Api:
    """The gateway's API as one agent calls it."""

    def __init__(self, http: httpx.Client, token: str | None) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def as_(self, token: str | None) -> Api:
        return Api(self._http, token)

    def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        return self._http.request(method, path, json=body, headers=self._headers)

    def done(self, method: str, path: str, body: object = None) -> Any:
        """Returns the reply to what must succeed."""
        response = self.call(method, path, body)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture
def api(tribal: Tribal) -> Iterator[Api]:
    with running(tribal.memory) as gateway, httpx.Client(base_url=gateway.url, timeout=30) as http:
        yield Api(http, tribal.curator_token)


def test_an_agents_life_from_its_first_token_to_its_end(api: Api) -> None:
    made = api.done("POST", "/v1/agents", {"name": "worker", "role": "writer", "days": 30})
    worker, agent = api.as_(made["token"]), made["agent"]["id"]
    assert (made["agent"]["name"], made["agent"]["role"], made["agent"]["last_used_at"]) == ("worker", "writer", None)
    assert worker.call("GET", "/v1/lessons").status_code == 200
    listed = api.done("GET", "/v1/agents")
    assert {one["name"]: one["role"] for one in listed["agents"]} == {"worker": "writer", "curator": "curator"}
    assert all(one["last_used_at"] for one in listed["agents"])
    assert listed["receipt"]["coverage"] == "complete"
    assert api.done("GET", f"/v1/agents/{agent}") == next(one for one in listed["agents"] if one["id"] == agent)
    second = api.done("POST", f"/v1/agents/{agent}/tokens", {"days": 1})
    assert worker.call("GET", "/v1/lessons").status_code == 200
    third = api.done("POST", f"/v1/agents/{agent}/tokens", {"revoke_others": True})
    assert [api.as_(one["token"]).call("GET", "/v1/lessons").status_code for one in (made, second, third)] == [401, 401, 200]
    tokens = api.done("GET", f"/v1/agents/{agent}/tokens")["tokens"]
    assert {one["id"]: one["revoked_at"] is None for one in tokens} == {made["id"]: False, second["id"]: False, third["id"]: True}
    assert {one["agent"] for one in tokens} == {agent}
    assert api.done("PUT", f"/v1/agents/{agent}/role", {"role": "reader"})["role"] == "reader"
    assert api.done("POST", f"/v1/tokens/{third['id']}/revoke")["revoked_at"]
    assert api.as_(third["token"]).call("GET", "/v1/lessons").status_code == 401
    assert api.done("POST", f"/v1/agents/{agent}/revoke")["revoked_at"]


def test_pages_of_agents_and_tokens_go_on_where_the_one_before_ended(api: Api) -> None:
    agent = api.done("POST", "/v1/agents", {"name": "worker", "role": "writer"})["agent"]["id"]
    for path, name in (("/v1/agents", "agents"), (f"/v1/agents/{agent}/tokens", "tokens")):
        if name == "tokens":
            api.done("POST", path)
        first = api.done("GET", f"{path}?limit=1")
        second = api.done("GET", f"{path}?limit=1&before={first['next']}")
        assert len({one["id"] for one in (*first[name], *second[name])}) == 2
        assert second["next"] is None


@pytest.mark.parametrize("route", AGENTS, ids=lambda route: route.operation)
def test_only_curators_reach_a_route_and_each_refusal_is_audited(tribal: Tribal, api: Api, route: Any) -> None:
    path, body = route.path.replace("{id}", TOKEN if route.id_of == "tok" else AGENT), BODIES.get(route.operation)
    assert api.as_(None).call(route.method, path, body).status_code == 401
    for role in (Role.READER, Role.WRITER):
        response = api.as_(tribal.token(f"a-{role}", role)).call(route.method, path, body)
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    entries = tribal.memory.desk.audit(tribal.curator).items
    assert {(one.agent, one.action, one.code) for one in entries} == {
        ("a-reader", route.operation, "forbidden"),
        ("a-writer", route.operation, "forbidden"),
    }
    assert api.call(route.method, path, body).status_code == (404 if "{id}" in route.path else 200)


def test_a_curator_who_is_revoked_cannot_act_any_more_at_once(tribal: Tribal, api: Api) -> None:
    made = api.done("POST", "/v1/agents", {"name": "second", "role": "curator"})
    second = api.as_(made["token"])
    assert second.call("GET", "/v1/agents").status_code == 200
    api.done("POST", f"/v1/agents/{made['agent']['id']}/revoke")
    assert second.call("POST", "/v1/agents", {"name": "late", "role": "curator"}).status_code == 401
    assert "late" not in {one.name for one in tribal.memory.desk.agents(tribal.curator).items}


def test_a_curator_who_becomes_a_writer_is_one_at_its_next_request(api: Api) -> None:
    made = api.done("POST", "/v1/agents", {"name": "second", "role": "curator"})
    api.done("PUT", f"/v1/agents/{made['agent']['id']}/role", {"role": "writer"})
    assert api.as_(made["token"]).call("GET", "/v1/agents").status_code == 403


def test_the_last_curator_is_told_why_it_cannot_go(tribal: Tribal, api: Api) -> None:
    (curator,) = api.done("GET", "/v1/agents")["agents"]
    for method, path, body in (
        ("POST", f"/v1/agents/{curator['id']}/revoke", None),
        ("PUT", f"/v1/agents/{curator['id']}/role", {"role": "writer"}),
        ("POST", f"/v1/tokens/{api.done('GET', '/v1/agents/' + curator['id'] + '/tokens')['tokens'][0]['id']}/revoke", None),
    ):
        response = api.call(method, path, body)
        assert (response.status_code, response.json()["code"]) == (409, "wrong_standing")
        assert "without a curator who can act" in response.json()["detail"]
    assert tribal.memory.authenticate(tribal.curator_token) == tribal.curator


def test_a_secret_is_in_its_own_reply_alone_and_that_is_not_to_be_stored(
    api: Api, tribal: Tribal, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    first = api.call("POST", "/v1/agents", {"name": "worker", "role": "writer"})
    agent = first.json()["agent"]["id"]
    again = api.call("POST", f"/v1/agents/{agent}/tokens", {})
    secrets = [one.json()["token"] for one in (first, again)]
    assert [one.headers["cache-control"] for one in (first, again)] == ["no-store", "no-store"]
    refused = api.call("POST", "/v1/agents", {"name": "worker", "role": "writer"})
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_standing")
    later = [api.call("GET", path).text for path in ("/v1/agents", f"/v1/agents/{agent}/tokens", "/v1/audit")]
    ended = api.call("POST", f"/v1/tokens/{again.json()['id']}/revoke").text
    for secret in secrets:
        assert secret.startswith("trb_")
        assert secret not in "\n".join([*later, ended, refused.text, caplog.text])
    assert caplog.text


def test_an_idempotency_key_gives_no_first_reply_again(api: Api) -> None:
    agent = api.done("POST", "/v1/agents", {"name": "worker", "role": "writer"})["agent"]["id"]
    api._headers["Idempotency-Key"] = "k"
    one, two = (api.done("POST", f"/v1/agents/{agent}/tokens") for _ in range(2))
    assert one["token"] != two["token"]


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/v1/agents", {"name": "worker"}, "role"),
        ("POST", "/v1/agents", {"name": "worker", "role": "king"}, "role"),
        ("POST", "/v1/agents", {"name": "a b", "role": "writer"}, "name"),
        ("POST", "/v1/agents", {"name": "x" * 101, "role": "writer"}, "name"),
        ("POST", "/v1/agents", {"name": "worker\n", "role": "writer"}, "name"),
        ("POST", "/v1/agents", {"name": "worker", "role": "writer", "days": 0}, "days"),
        ("POST", "/v1/agents", {"name": "worker", "role": "writer", "days": 3651}, "days"),
        ("POST", "/v1/agents", {"name": "worker", "role": "writer", "secret": "trb_x"}, "secret"),
        ("POST", f"/v1/agents/{AGENT}/tokens", {"days": 3651}, "days"),
        ("POST", f"/v1/agents/{AGENT}/tokens", {"revoke_others": "yes"}, "revoke_others"),
        ("POST", f"/v1/agents/{AGENT}/tokens", {"newest": AGENT}, "newest"),
        ("PUT", f"/v1/agents/{AGENT}/role", {}, "role"),
        ("POST", f"/v1/agents/{TOKEN}/revoke", None, "id"),
        ("POST", f"/v1/tokens/{AGENT}/revoke", None, "id"),
        ("GET", "/v1/agents?limit=0", None, "limit"),
        ("GET", "/v1/agents?before=x", None, "before"),
        ("GET", f"/v1/agents/{AGENT}/tokens?state=open", None, "state"),
    ],
)
def test_what_breaks_a_rule_is_named(api: Api, method: str, path: str, body: object, field: str) -> None:
    response = api.call(method, path, body)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
    assert response.json()["errors"][0]["field"] == field


def test_the_contract_and_the_core_take_the_same_names_and_days() -> None:
    properties = contract.CreateAgentRequest.model_json_schema()["properties"]
    assert properties["name"]["pattern"] == f"^{NAME_PATTERN}$"
    assert (properties["days"]["minimum"], properties["days"]["maximum"]) == (1, MOST_DAYS)
    assert properties["days"]["default"] == contract.NewTokenRequest().days == DAYS
    for name in ("A._:@/-9", "x" * 100):
        check_name("name", name)
        assert contract.CreateAgentRequest(name=name, role="reader").name == name
    for name in ("", "-x", "a b", "x" * 101, "\u00e4", "a\n"):
        with pytest.raises(InvalidRequest):
            check_name("name", name)
        with pytest.raises(ValidationError):
            contract.CreateAgentRequest(name=name, role="reader")


def test_managing_agents_is_not_counted_in_the_pace_of_writing(database_url: str) -> None:
    with (
        open_tribal(database_url, writes_per_minute=1, writes_per_day=1) as tribal,
        running(tribal.memory) as gateway,
        httpx.Client(base_url=gateway.url, timeout=30) as http,
    ):
        api = Api(http, tribal.curator_token)
        agent = api.done("POST", "/v1/agents", {"name": "worker", "role": "writer"})["agent"]["id"]
        for _ in range(3):
            api.done("POST", f"/v1/agents/{agent}/tokens")
        api.done("PUT", f"/v1/agents/{agent}/role", {"role": "reader"})
        assert tribal.rows("SELECT * FROM tributary.pace") == tribal.rows("SELECT * FROM tributary.tribe_day") == []
        tribal.learn(tribal.curator, "The deploy API needs X-Batch.")
