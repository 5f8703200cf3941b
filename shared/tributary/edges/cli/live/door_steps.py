"""Steps about the server as anybody meets it: what is open, and what is refused at the door."""

from __future__ import annotations

import json

from tributary import __version__
from tributary.contract import limits
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import NotTried, Step, equal, holds


def _health(stage: Stage) -> None:
    reply = stage.ask("GET", "/health").document
    equal("status", "ok", reply.get("status"))
    stage.version = str(reply.get("version"))
    if stage.version != __version__:
        stage.warnings.append(f"the server is version {stage.version}, this command is version {__version__}")


def _openapi(stage: Stage) -> None:
    from tributary.edges.lambda_http.openapi import document_json

    found = stage.ask("GET", "/openapi.json").document
    holds("an OpenAPI document", isinstance(found, dict) and "paths" in found, type(found).__name__)
    if stage.version != __version__:
        raise NotTried(f"the server's version is {stage.version}, and so may its description be")
    ours = json.loads(document_json())
    for part in sorted({*ours, *found}):
        holds(f"'{part}' as in this version's description", ours.get(part) == found.get(part), "another one")


def _docs(stage: Stage) -> None:
    answer = stage.ask("GET", "/docs")
    equal("content type", "text/html", answer.headers.get("content-type", "").partition(";")[0])


def _unknown_route(stage: Stage) -> None:
    stage.problem(stage.ask("GET", f"/v1/{stage.word}", by=stage.curator, status=404), "not_found")


def _wrong_method(stage: Stage) -> None:
    answer = stage.ask("PUT", "/v1/recall", by=stage.curator, body={}, status=405)
    stage.problem(answer, "method_not_allowed")
    equal("Allow", "POST", answer.headers.get("allow"))


def _wrong_token(stage: Stage) -> None:
    answer = stage.ask("GET", "/v1/stats", token=f"trb_{stage.word:x<43}", status=401)
    stage.problem(answer, "unauthenticated")


def _too_large(stage: Stage) -> None:
    body = {"query": "x" * limits.BODY_BYTES}
    stage.problem(stage.ask("POST", "/v1/recall", by=stage.curator, body=body, status=413), "too_large")


def _invalid(stage: Stage) -> None:
    body = {"query": stage.word, "limit": "5"}
    answer = stage.ask("POST", "/v1/recall", by=stage.curator, body=body, status=400)
    stage.problem(answer, "invalid_request")
    equal("field", ["limit"], [one.get("field") for one in answer.document.get("errors", [])])


def _preflight(stage: Stage) -> None:
    if stage.origin is None:
        raise NotTried("no --origin is given")
    asked = {
        "origin": stage.origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    answer = stage.ask("OPTIONS", "/v1/recall", headers=asked, status=204)
    equal("Access-Control-Allow-Origin", stage.origin, answer.headers.get("access-control-allow-origin"))
    allowed = answer.headers.get("access-control-allow-methods", "")
    holds("POST among Access-Control-Allow-Methods", "POST" in allowed.upper(), allowed or "none")
    headers = answer.headers.get("access-control-allow-headers", "")
    holds("authorization among Access-Control-Allow-Headers", "authorization" in headers.lower(), headers or "none")


DOOR = (
    Step(name="health", does=_health, covers=("health",)),
    Step(name="openapi", does=_openapi, covers=("openapi",), needs=("health",)),
    Step(name="docs", does=_docs, covers=("docs",)),
    Step(name="unknown-route", does=_unknown_route),
    Step(name="wrong-method", does=_wrong_method),
    Step(name="wrong-token", does=_wrong_token),
    Step(name="too-large", does=_too_large),
    Step(name="invalid-field", does=_invalid),
    Step(name="preflight", does=_preflight),
)
