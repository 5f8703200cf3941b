"""A tribe whose agents are named as in the sample events, and the events rewritten to speak of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.contract.samples import LEARN, UNKNOWN_LESSON, event_of
from tests.contract.test_events import EVENTS, load, settled
from tributary.core.agent import Role
from tributary.edges.lambda_http.port import Event
from tributary.service import Settings, open_operator

Invoke = Callable[[Event], Any]


@dataclass(frozen=True, kw_only=True)
class EventTribe:
    """`tokens` and `contexts`, which is what the authorizer says of these, by role."""

    tokens: dict[str, str]
    contexts: dict[str, dict[str, str]]
    lesson_id: str

    def of(self, event: Event) -> Event:
        """Returns a sample event with the tokens, ids and lesson of this tribe in place of the sample's."""
        changed: Event = json.loads(json.dumps(event).replace(UNKNOWN_LESSON, self.lesson_id))
        role = (changed.get("requestContext", {}).get("authorizer") or {}).get("lambda", {}).get("role")
        if role:
            changed["requestContext"]["authorizer"]["lambda"] = self.contexts[role]
            changed["headers"]["authorization"] = f"Bearer {self.tokens[role]}"
        elif changed.get("identitySource") == ["Bearer reader"]:
            changed = asks(self.tokens["reader"])
        return changed


def settle(settings: Settings, *, authorizer: Invoke, learn: Invoke) -> EventTribe:
    """Makes the tribe with the owner's `settings`, and its lesson by the function `learn`."""
    with open_operator(settings) as operator:
        tokens = {"curator": operator.create_tribe("events", curator="agent-curator").token.secret}
        for role in (Role.READER, Role.WRITER):
            tokens[role.value] = operator.create_agent("events", f"agent-{role}", role).secret
    contexts = {role: authorizer(asks(token))["context"] for role, token in tokens.items()}
    body = json.dumps({**LEARN, "text": "Clear the cache first"}).encode()
    event = event_of("POST", "/v1/lessons", body=body)
    event["requestContext"]["authorizer"] = {"lambda": contexts["writer"]}
    learned = json.loads(learn(event)["body"])
    return EventTribe(tokens=tokens, contexts=contexts, lesson_id=learned["lesson"]["id"])


def asks(token: str) -> Event:
    """Returns the sample event of the authorizer with another token."""
    event = load(EVENTS / "authorizer" / "known.json")
    event["identitySource"] = [f"Bearer {token}"]
    event["headers"]["authorization"] = f"Bearer {token}"
    return event


def parsed(body: str) -> Any:
    """Returns a reply without what differs from one to the next."""
    if not body.startswith("{"):
        return body
    document = json.loads(settled(body))
    for varying in ("ms", "signature"):
        document.get("receipt", {}).pop(varying, None)
    return document
