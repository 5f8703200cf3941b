"""The API's description: one OpenAPI 3.1 document, made from the route table, the contract's models and its error codes.

`python -m tributary.edges.lambda_http.openapi > docs/api/openapi.json` writes it down.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from http import HTTPStatus
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from tributary import __version__
from tributary.contract import limits
from tributary.contract.evidence import ContentType
from tributary.contract.models import LessonRequest, Problem
from tributary.contract.problems import PROBLEMS, ProblemKind
from tributary.contract.route import QueryParameter
from tributary.contract.routes import ROUTES, Route
from tributary.edges.lambda_http import examples
from tributary.edges.lambda_http.headers import IDEMPOTENCY_KEY
from tributary.edges.lambda_http.links import links_from
from tributary.edges.lambda_http.problems import CONTENT_TYPE
from tributary.edges.lambda_http.query import MOST_CHARACTERS

Json = dict[str, Any]

_SCHEMA = "#/components/schemas/"
_DESCRIPTION = (
    "Shared, conflict-safe, auditable memory for AI agents. Send `Authorization: Bearer <token>`; bodies are JSON in UTF-8. "
    "Errors are problem+json with a stable `code`. Every reply carries `X-Operation-Id`, by which the server's log is found."
)
_ID_OF = {
    "les": "a lesson",
    "dis": "a dispute",
    "dec": "a decision",
    "rev": "a case of the review queue",
    "agt": "an agent",
    "tok": "a token",
    "act": "an action",
}
_BINARY: Json = {"schema": {"type": "string", "format": "binary"}}
_TEXT_RULES: Json = {"minLength": 1, "maxLength": MOST_CHARACTERS}
_KEY: Json = {
    "type": "string",
    "minLength": 1,
    "maxLength": limits.IDEMPOTENCY_KEY_CHARACTERS,
    "pattern": "^[!-~]([ -~]*[!-~])?$",
}
_MAY_FAIL = ("internal", "bad_setting", "corrupt")


@cache
def document_json() -> str:
    """Returns the document as JSON text, the same for the same code."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def document() -> Json:
    """Returns the OpenAPI document of all routes, whichever function serves them."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tributary", "version": __version__, "description": _DESCRIPTION, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "responses": {_response_name(status): _problem_response(status) for status in _statuses()},
            "headers": _headers(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "An agent's token, shown once when it was made."}
            },
        },
    }


def _paths() -> Json:
    paths: Json = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> Json:
    operation: Json = {"operationId": route.operation, "summary": route.summary, "x-function": route.function}
    if route.role:
        operation["description"] = f"Needs the role {route.role} or a higher one."
        operation["security"] = [{"token": []}]
    else:
        operation["security"] = []
    parameters = _parameters(route)
    if parameters:
        operation["parameters"] = parameters
    if route.request:
        operation["requestBody"] = _request_body(route, route.request)
    if route.takes_bytes:
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": _BINARY}}
    operation["responses"] = _responses(route)
    return operation


def _parameters(route: Route) -> list[Json]:
    parameters: list[Json] = []
    if "{id}" in route.path:
        schema = {"type": "string", "pattern": f"^{route.id_of}_[0-9a-f]{{32}}$"}
        parameters.append(
            {"name": "id", "in": "path", "required": True, "description": f"Id of {_ID_OF[route.id_of]}.", "schema": schema}
            | {"example": f"{route.id_of}{examples.LESSON_ID.removeprefix('les')}"}
        )
    if "{sha256}" in route.path:
        parameters.append(
            {"name": "sha256", "in": "path", "required": True, "description": "SHA-256 of the file."}
            | {"schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "example": "5f" * 32}
        )
    parameters.extend(
        {"name": one.name, "in": "query", "required": False, "description": one.description, "schema": _told(one)}
        for one in route.query
    )
    if route.keyed:
        parameters.append(
            {
                "name": IDEMPOTENCY_KEY,
                "in": "header",
                "required": False,
                "description": "Makes a repeated request harmless: the same key and body give the first reply again.",
                "schema": _KEY,
            }
        )
    return parameters


def _told(parameter: QueryParameter) -> Json:
    """Returns the schema of a query parameter with the rules that hold for each: none is empty, or longer than is read."""
    schema = dict(parameter.schema)
    if schema["type"] == "array":
        return schema | {"items": _TEXT_RULES | cast(Json, schema["items"])}
    return _TEXT_RULES | schema if schema["type"] == "string" and "enum" not in schema else schema


def _request_body(route: Route, model: type[BaseModel]) -> Json:
    content: Json = {"schema": {"$ref": _SCHEMA + model.__name__}}
    example = examples.REQUESTS.get(route.operation)
    if example:
        content["example"] = example
    required = any(field.is_required() for field in model.model_fields.values())
    return {"required": required, "content": {"application/json": content}}


def _responses(route: Route) -> Json:
    responses: Json = {}
    for status in (HTTPStatus.OK, *route.also):
        responses[str(status.value)] = {
            "description": _SUCCESS.get(status, status.phrase),
            "headers": {"X-Operation-Id": {"$ref": "#/components/headers/X-Operation-Id"}},
            "content": _reply_content(route, status),
        }
        links = links_from(route.operation)
        if links and status is not HTTPStatus.TEMPORARY_REDIRECT:
            responses[str(status.value)]["links"] = links
    for problem_status in sorted({PROBLEMS[code].status for code in codes_of(route)}):
        responses[str(problem_status)] = {"$ref": f"#/components/responses/{_response_name(problem_status)}"}
    return responses | _OF_THE_PROTOCOL if route.operation == "mcp" else responses


_JSON_RPC: Json = {"application/json": {"schema": {"type": "object"}}}
_OF_THE_PROTOCOL: Json = {
    "202": {"description": "Taken: a notification has no reply"},
    "400": {
        "description": "An error of JSON-RPC: the body is no message of the protocol; or a problem, of another kind",
        "content": _JSON_RPC | {CONTENT_TYPE: {"schema": {"$ref": _SCHEMA + "Problem"}}},
    },
    "406": {"description": "An error of JSON-RPC: Accept does not let JSON through", "content": _JSON_RPC},
}
"""What the Model Context Protocol answers with beside what every operation does."""
_SUCCESS = {
    HTTPStatus.OK: "Done",
    HTTPStatus.ACCEPTED: "Kept as pending: it could not be settled in time and will be soon",
    HTTPStatus.TEMPORARY_REDIRECT: "The bytes are at the address in Location, for a minute; send no token there",
}


def _reply_content(route: Route, status: HTTPStatus) -> Json:
    if route.reply is None:
        if route.of_files:
            return dict.fromkeys(sorted(get_args(ContentType)), _BINARY) if status is HTTPStatus.OK else {}
        if route.operation == "docs":
            return {"text/html": {"schema": {"type": "string"}}}
        return {"application/json": {"schema": {"type": "object"}}}
    content: Json = {"schema": {"$ref": _SCHEMA + route.reply.__name__}}
    example = examples.REPLIES.get(route.operation)
    if example and status is HTTPStatus.OK:
        content["example"] = example
    return {"application/json": content}


def codes_of(route: Route) -> tuple[str, ...]:
    """Returns the problem codes that `route` may answer with."""
    codes = ["invalid_request", *_MAY_FAIL]
    if route.role:
        codes += ["unauthenticated", "forbidden"]
    if route.role or route.operation == "health":
        codes += ["unavailable", "not_migrated", "code_too_old", "timed_out", "overloaded"]
    if "{id}" in route.path or "{sha256}" in route.path:
        codes.append("not_found")
    if route.takes_bytes:
        codes += ["too_large", "wrong_standing"]
    if route.of_files:
        codes.append("not_set_up")
    if route.operation == "announce_evidence":
        codes.append("wrong_standing")
    if route.operation == "learn":
        codes.append("not_found")  # of a lesson that it is to replace
    if route.request:
        codes += ["too_large", "unsupported_media_type", "model_failed"]
    if route.keyed or (route.request and route.function == "curate"):
        codes.append("wrong_standing")
    if route.keyed:
        codes += ["idempotency_conflict", "rate_limited"]
    if route.paced:
        codes += ["not_set_up", "rate_limited"]
    return tuple(codes)


def _kinds() -> list[ProblemKind]:
    used = {code for route in ROUTES for code in codes_of(route)}
    return [kind for kind in PROBLEMS.values() if kind.code in used]


def _statuses() -> list[int]:
    return sorted({kind.status for kind in _kinds()})


def _response_name(status: int) -> str:
    # By number: Python renames the phrases of statuses from one version to the next.
    return f"Problem{status}"


def _problem_response(status: int) -> Json:
    kinds = [kind for kind in _kinds() if kind.status == status]
    headers: Json = {"X-Operation-Id": {"$ref": "#/components/headers/X-Operation-Id"}}
    if any(kind.retry_after_s for kind in kinds):
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    return {
        "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in kinds),
        "headers": headers,
        "content": {CONTENT_TYPE: {"schema": {"$ref": _SCHEMA + "Problem"}}},
    }


def _headers() -> Json:
    return {
        "X-Operation-Id": {"description": "Found on each line of the server's log about it.", "schema": {"type": "string"}},
        "Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer", "minimum": 0}},
    }


def _schemas() -> Json:
    wanted: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        (Problem, "serialization"),
        (LessonRequest, "validation"),  # named by the batch, which reads its lessons one by one
    ]
    for route in ROUTES:
        if route.request:
            wanted.append((route.request, "validation"))
        if route.reply:
            wanted.append((route.reply, "serialization"))
    _, definitions = models_json_schema(wanted, ref_template=_SCHEMA + "{model}")
    schemas: Json = definitions["$defs"]
    return dict(sorted(schemas.items()))


if __name__ == "__main__":
    sys.stdout.write(document_json())
