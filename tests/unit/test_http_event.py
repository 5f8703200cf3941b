"""The event that the local gateway makes of a request, as API Gateway makes it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from tributary.edges.lambda_http.http_event import HttpRequest, to_authorizer_event, to_event
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.routing import find

AT = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)


def made(method: str = "POST", path: str = "/v1/recall", *headers: tuple[str, str], query: str = "", body: bytes = b"") -> Event:
    request = HttpRequest(
        method=method,
        path=path,
        query_string=query,
        headers=headers,
        protocol="HTTP/1.1",
        source_ip="192.0.2.1",
        body=body,
    )
    return to_event(request, find(method, path), request_id="r1", at=AT)


def test_values_of_one_header_are_joined_by_commas() -> None:
    event = made("GET", "/health", ("accept", "a"), ("x-one", "1"), ("accept", "b"))
    assert event["headers"] == {"accept": "a,b", "x-one": "1"}


def test_cookies_have_a_field_of_their_own() -> None:
    event = made("GET", "/health", ("cookie", "a=1; b=2"), ("cookie", "c=3"))
    assert event["cookies"] == ["a=1", "b=2", "c=3"]
    assert "cookie" not in event["headers"]


def test_what_a_request_lacks_its_event_lacks() -> None:
    assert not {"cookies", "queryStringParameters", "pathParameters", "body"} & set(made("GET", "/health"))


def test_query_string_stays_encoded_and_its_parameters_are_decoded_and_joined() -> None:
    event = made("GET", "/v1/lessons", query="status=any&as_of=2026%2B1&status=active&empty=")
    assert event["rawQueryString"] == "status=any&as_of=2026%2B1&status=active&empty="
    assert event["queryStringParameters"] == {"status": "any,active", "as_of": "2026+1", "empty": ""}


def test_route_key_and_path_parameters_are_the_routes() -> None:
    event = made("GET", "/v1/lessons/les_1")
    assert event["routeKey"] == event["requestContext"]["routeKey"] == "GET /v1/lessons/{id}"
    assert event["pathParameters"] == {"id": "les_1"}
    assert made("GET", "/nowhere")["routeKey"] == "$default"


def test_time_is_told_as_api_gateway_tells_it() -> None:
    context = made()["requestContext"]
    assert context["time"] == "01/Mar/2026:12:00:00 +0000"
    assert context["timeEpoch"] == 1772366400500


@pytest.mark.parametrize(
    ("content_type", "body", "is_base64"),
    [
        ("application/json", b'{"a": "\xc3\xa9"}', False),
        ("application/json; charset=utf-8", b"{}", False),
        ("text/plain", b"x", False),
        ("application/json", b"\xff", True),
        ("application/octet-stream", b"x", True),
        ("application/x-www-form-urlencoded", b"a=1", True),
        ("", b"x", True),
    ],
)
def test_body_that_is_not_text_comes_in_base64(content_type: str, body: bytes, is_base64: bool) -> None:
    event = made("POST", "/v1/recall", ("content-type", content_type), body=body)
    assert event["isBase64Encoded"] is is_base64
    assert (base64.b64decode(event["body"]) if is_base64 else event["body"].encode()) == body


def test_authorizer_is_asked_without_the_body() -> None:
    event = made("POST", "/v1/recall", ("authorization", "Bearer t"), ("content-type", "application/json"), body=b"{}")
    asked = to_authorizer_event(event)
    assert asked["type"] == "REQUEST"
    assert asked["identitySource"] == ["Bearer t"]
    assert asked["routeArn"].endswith("/$default/POST/v1/recall")
    assert not {"body", "isBase64Encoded"} & set(asked)
    assert to_authorizer_event(made())["identitySource"] == []
