"""From an HTTP request to the event that API Gateway's HTTP APIs send to Lambda (payload format 2.0).

What is easily got wrong: header names are lower case and values of one name are joined by commas; cookies have a field of
their own; `rawPath` is percent-decoded but `rawQueryString` is not; a body that is not text comes in base64.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.routing import Match

_ACCOUNT = "000000000000"
_API = "local"
_STAGE = "$default"
_TEXT_TYPES = ("application/json", "application/xml", "application/javascript")


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    """A request as the web server received it; `path` is percent-decoded, header names are in lower case."""

    method: str
    path: str
    query_string: str
    headers: tuple[tuple[str, str], ...]
    protocol: str
    source_ip: str
    body: bytes

    def header(self, name: str) -> str:
        """Returns the first header of that lower-case name, or nothing."""
        return next((value for key, value in self.headers if key == name), "")


def to_event(request: HttpRequest, match: Match | None, *, request_id: str, at: datetime) -> Event:
    """Returns the event; `match` is the route that API Gateway would have chosen, None for its `$default` route."""
    route_key = _route_key(match)
    headers = _joined(request)
    body, is_base64 = _body(request)
    event: Event = {
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": request.path,
        "rawQueryString": request.query_string,
        "headers": headers,
        "requestContext": _request_context(request, route_key, headers, request_id=request_id, at=at),
        "isBase64Encoded": is_base64,
    }
    cookies = [piece.strip() for key, value in request.headers if key == "cookie" for piece in value.split(";") if piece.strip()]
    if cookies:
        event["cookies"] = cookies
    query = _query(request.query_string)
    if query:
        event["queryStringParameters"] = query
    if match and match.parameters:
        event["pathParameters"] = dict(match.parameters)
    if body is not None:
        event["body"] = body
    return event


def to_authorizer_event(event: Event) -> Event:
    """Returns the REQUEST event (format 2.0) with which API Gateway asks a Lambda authorizer about `event`."""
    context = event["requestContext"]
    method, path = context["http"]["method"], event["rawPath"]
    asked = {name: value for name, value in event.items() if name not in ("body", "isBase64Encoded")}
    return {
        **asked,
        "type": "REQUEST",
        "routeArn": f"arn:aws:execute-api:local:{_ACCOUNT}:{_API}/{_STAGE}/{method}{path}",
        "identitySource": [event["headers"]["authorization"]] if "authorization" in event["headers"] else [],
    }


def _route_key(match: Match | None) -> str:
    return f"{match.route.method} {match.route.path}" if match else "$default"


def _joined(request: HttpRequest) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in request.headers:
        if name != "cookie":
            joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _query(query_string: str) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in parse_qsl(query_string, keep_blank_values=True):
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _request_context(
    request: HttpRequest, route_key: str, headers: dict[str, str], *, request_id: str, at: datetime
) -> dict[str, object]:
    domain = headers.get("host", "localhost")
    return {
        "accountId": _ACCOUNT,
        "apiId": _API,
        "domainName": domain,
        "domainPrefix": domain.partition(".")[0],
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": request_id,
        "routeKey": route_key,
        "stage": _STAGE,
        "time": at.astimezone(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(at.timestamp() * 1000),
    }


def _body(request: HttpRequest) -> tuple[str | None, bool]:
    if not request.body:
        return None, False
    media_type = request.header("content-type").partition(";")[0].strip().lower()
    if media_type.startswith("text/") or media_type in _TEXT_TYPES:
        try:
            return request.body.decode("utf-8"), False
        except UnicodeDecodeError:
            # The function must see the bytes as they came, to refuse them.
            pass
    return base64.b64encode(request.body).decode("ascii"), True
