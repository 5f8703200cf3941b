"""Which operations go on from a reply, and with what of it: OpenAPI's links, by which a reader, or a fuzz, finds its way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_LESSON = ("lesson", "timeline", "reinforce", "contest", "retire", "release", "erase")
_DISPUTE = ("dispute", "accept_dispute", "reject_dispute", "both_stand")
_DECISION = ("decision", "report")
_ACTION = ("action", "reconcile_action", "complete_action", "fail_action", "renew_action")
_AGENT = ("agent", "tokens", "new_token", "set_role", "revoke_agent")
_TOKEN = ("revoke_token",)
_REVIEW = ("accept_review", "reject_review")

_IDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "learn": {"/lesson/id": _LESSON, "/decision": _DECISION, "/dispute": _DISPUTE},
    "contest": {"/lesson/id": _LESSON, "/dispute": _DISPUTE},
    "recall": {"/hits/0/lesson/id": _LESSON},
    "lessons": {"/lessons/0/id": _LESSON},
    "quarantine": {"/held/0/lesson/id": ("release", "retire", "erase")},
    "disputes": {"/disputes/0/id": _DISPUTE},
    "challenges": {"/disputes/0/id": _DISPUTE},
    "decisions": {"/decisions/0/id": _DECISION},
    "report": {"/review": _REVIEW},
    "reviews": {"/reviews/0/id": _REVIEW},
    "begin_action": {"/action/id": _ACTION},
    "actions": {"/actions/0/id": ("action", "reconcile_action")},
    "create_agent": {"/agent/id": _AGENT, "/id": _TOKEN},
    "agents": {"/agents/0/id": ("agent", "tokens")},
    "new_token": {"/id": _TOKEN},
}
"""By operation: where in its reply an id stands, and the operations that take it as the `id` of their path."""

_BODIES: Mapping[str, Json] = {
    "complete_action": {"lease": "$response.body#/lease"},
    "fail_action": {"lease": "$response.body#/lease", "failure": "it did not happen"},
    "renew_action": {"lease": "$response.body#/lease"},
}
"""By operation that a link leads to: the body that it takes."""


def links_from(operation: str) -> Json:
    """Returns the links of an operation's reply by the names of the operations that they lead to."""
    if operation == "announce_evidence":
        return {one: _link(one, {"sha256": "$request.body#/sha256"}) for one in ("put_evidence", "evidence")}
    return {
        one: _link(one, {"id": f"$response.body#{pointer}"})
        for pointer, operations in _IDS.get(operation, {}).items()
        for one in operations
    }


def _link(operation: str, parameters: Json) -> Json:
    body = _BODIES.get(operation)
    return {"operationId": operation, "parameters": parameters} | ({"requestBody": body} if body else {})
