"""Each sample event through the function's app and through the gateway, as HTTP, is answered alike."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.contract.samples import LEARN, UNKNOWN_LESSON, Context, app_of, bearer
from tests.contract.stand_in import WRITER, StandIn, lesson_of
from tributary.contract.models import LearnRequest
from tributary.contract.routes import ROUTES
from tributary.core import ids
from tributary.edges.lambda_http.authorizer import authorize
from tributary.edges.lambda_http.http_event import HttpRequest, to_authorizer_event, to_event
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.routing import find
from tributary.edges.lambda_http.translate import draft

EVENTS = Path(__file__).parents[2] / "events"
HTTP_EVENTS = sorted(
    path
    for function in ("recall", "learn", "curate", "mcp", "responder")
    for path in (EVENTS / function).glob("*.json")
    if not path.stem.startswith("queue-")
)
SIGNED_EVENTS = [path for path in HTTP_EVENTS if path.stem.endswith("-iam")]
"""Their callers are known by an AWS signature, which API Gateway alone checks: the local gateway knows nobody by one."""
EVENTS_OF_BOTH = [path for path in HTTP_EVENTS if path not in SIGNED_EVENTS]

KNOWN = ids.parse(ids.Prefix.LESSON, UNKNOWN_LESSON, field="id")
_VARYING = re.compile(
    r"(?:les|dec|rcp|dis|rev|aud|agt|tok|act)_[0-9a-f]{32}|\btrb_[\w-]{43,}|\blease_[0-9a-f]{64}\b|\b[0-9a-f]{32}\b"
    r"|(?<=tributary-lessons-)[0-9a-f]{16}|\d{4}-\d\d-\d\dT[\d:.]+Z"
)
_FADING = re.compile(r"(?<=confidence\":)[\d.e-]+")
"""Confidence falls with age, by a little from one request to the next."""


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def load(path: Path) -> Event:
    event: Event = json.loads(path.read_text(encoding="utf-8"))
    return event


def sent(api: httpx.Client, event: Event) -> httpx.Response:
    """Sends over HTTP the request that the event was made of."""
    body = event.get("body") or ""
    content = base64.b64decode(body) if event["isBase64Encoded"] else body.encode()
    own = {"host", "content-length"}
    headers = {name: value for name, value in event["headers"].items() if name not in own and not name.startswith("x-")}
    if "cookies" in event:
        headers["cookie"] = "; ".join(event["cookies"])
    if event["isBase64Encoded"]:
        headers["content-type"] = "application/json"
    query = f"?{event['rawQueryString']}" if event["rawQueryString"] else ""
    method = event["requestContext"]["http"]["method"]
    return api.request(method, quote(event["rawPath"]) + query, content=content or None, headers=headers)


def settled(body: str) -> str:
    """Returns a reply without what differs from one to the next."""
    return _FADING.sub("0", _VARYING.sub("*", body))


@pytest.fixture
def knowing(memory: StandIn) -> StandIn:
    """The memory with the lesson that the events speak of."""
    memory.kept[KNOWN] = lesson_of(draft(LearnRequest.model_validate(LEARN)), WRITER)
    return memory


@pytest.mark.parametrize("path", EVENTS_OF_BOTH, ids=named)
def test_function_and_gateway_answer_a_sample_event_alike(api: httpx.Client, knowing: StandIn, path: Path) -> None:
    event = load(path)
    by_function = app_of(path.parent.name, knowing)(event, Context())
    asked_by_function = [(call.name, without_deadline(call.given)) for call in knowing.calls]
    knowing.calls.clear()
    for lesson_id in [one for one in knowing.kept if one != KNOWN]:
        del knowing.kept[lesson_id]
    over_http = sent(api, event)
    assert over_http.status_code == by_function["statusCode"]
    body = by_function["body"]
    assert settled(over_http.text) == settled(base64.b64decode(body).decode() if by_function.get("isBase64Encoded") else body)
    own = {"date", "content-length"}
    assert {name: settled(value) for name, value in over_http.headers.items() if name not in own} == {
        name.lower(): settled(value) for name, value in by_function["headers"].items()
    }
    asked = [(call.name, without_deadline(call.given)) for call in knowing.calls if call.name != "authenticate"]
    assert asked == asked_by_function


def without_deadline(given: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if name != "deadline_s" and not _of_the_hour(name, value)}


def _of_the_hour(name: str, value: object) -> bool:
    """Tells whether something is a key that MCP's edge made, which holds for two minutes."""
    return name == "idempotency_key" and str(value).startswith("mcp-")


EXPECTED = {
    "learn/forbidden": 403,
    "learn/forbidden-iam": 403,
    "learn/invalid": 400,
    "learn/unauthenticated": 401,
    "mcp/initialized": 202,
    "mcp/unauthenticated": 401,
    "recall/unauthenticated": 401,
    "recall/unbound-iam": 401,
    "recall/unknown-parameter": 400,
    "recall/unknown-route": 404,
    "recall/wrong-method": 405,
}


@pytest.mark.parametrize("path", HTTP_EVENTS, ids=named)
def test_sample_event_shows_what_its_name_says(knowing: StandIn, path: Path) -> None:
    response = app_of(path.parent.name, knowing)(load(path), Context())
    assert response["statusCode"] == EXPECTED.get(named(path), 200)


def test_every_route_has_a_sample_event() -> None:
    keys = {load(path)["routeKey"] for path in HTTP_EVENTS}
    assert keys >= {f"{route.method} {route.path}" for route in ROUTES}


@pytest.mark.parametrize("path", HTTP_EVENTS, ids=named)
def test_gateway_makes_events_of_the_same_shape_as_api_gateway(path: Path) -> None:
    event = load(path)
    http = event["requestContext"]["http"]
    cookies = [("cookie", "; ".join(event["cookies"]))] if "cookies" in event else []
    body = event.get("body") or ""
    request = HttpRequest(
        method=http["method"],
        path=event["rawPath"],
        query_string=event["rawQueryString"],
        headers=(*event["headers"].items(), *cookies),
        protocol=http["protocol"],
        source_ip=http["sourceIp"],
        body=base64.b64decode(body) if event["isBase64Encoded"] else body.encode(),
    )
    made = to_event(request, find(http["method"], event["rawPath"]), request_id="x", at=datetime.fromtimestamp(1772366400, UTC))
    assert set(made) == set(event)
    assert set(made["requestContext"]) == set(event["requestContext"]) - {"authorizer"}
    assert made["requestContext"]["http"] == http
    assert made["requestContext"]["time"] == event["requestContext"]["time"]
    assert made["requestContext"]["timeEpoch"] == event["requestContext"]["timeEpoch"]
    for key in (
        "version",
        "routeKey",
        "rawPath",
        "rawQueryString",
        "headers",
        "cookies",
        "queryStringParameters",
        "pathParameters",
    ):
        assert made.get(key) == event.get(key)


def test_authorizer_knows_its_sample_events(memory: StandIn) -> None:
    known = authorize(load(EVENTS / "authorizer" / "known.json"), lambda: memory)
    unknown = authorize(load(EVENTS / "authorizer" / "unknown.json"), lambda: memory)
    assert known["context"]["role"] == "reader"
    assert unknown == {"isAuthorized": True, "context": {}}


def test_authorizer_event_of_the_gateway_has_the_shape_of_api_gateways() -> None:
    sample = load(EVENTS / "authorizer" / "known.json")
    event = load(EVENTS / "recall" / "recall.json")
    del event["requestContext"]["authorizer"], event["cookies"]
    made = to_authorizer_event(event)
    assert set(made) == set(sample)
    assert made["identitySource"] == [bearer("reader")["Authorization"]]
    assert made["type"] == "REQUEST"
