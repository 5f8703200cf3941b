"""Every method of the SDK, with something to hand to it, and a wire on which its tries end as scripted."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import httpx

from tests.unit.activity_fakes import ACTIVITY, EVALUATION
from tests.unit.client_fakes import AT, ONE, Tribe, hit, problem, receipt
from tests.unit.curation_fakes import DECISION, DISPUTE, REVIEW, curated, policy
from tributary import client
from tributary.client import Hit, observed
from tributary.client.receipts import read_receipt
from tributary.contract.models import HitReply

AGENT = "agt_" + "7" * 32
TOKEN = "tok_" + "8" * 32
FILE = b'{"a":"file"}'
RECEIPT = read_receipt(json.dumps({"receipt": receipt(1)}).encode())
SAMPLES: dict[str, Any] = {
    "action": "act_" + "6" * 32,
    "after": 5,
    "agent": "agent-a",
    "agent.agent": AGENT,
    "tokens.agent": AGENT,
    "new_token.agent": AGENT,
    "set_role.agent": AGENT,
    "revoke_agent.agent": AGENT,
    "as_of": 7,
    "author": "agent-a",
    "at_least": 5,
    "before": "7",
    "by": "model",
    "cause": "wrong",
    "days": 30,
    "confidence": 0.9,
    "deadline_s": 5.0,
    "decision": DECISION,
    "description": "reboot db-7",
    "dispute": DISPUTE,
    "content_type": "text/plain",
    "evidence": [{"type": "log", "ref": "s3://x"}],
    "evidence.ref": f"sha256:{hashlib.sha256(FILE).hexdigest()}",
    "file": FILE,
    "failure": "it was not there",
    "follow": False,
    "function": lambda: "rebooted",
    "from_": 3,
    "golden": "row-1",
    "happened": True,
    "hit": Hit.of(HitReply.model_validate(hit()), RECEIPT),
    "idempotency_key": "key-1",
    "include_stale": True,
    "complete.lesson": {"text": "t", "situation": "s", "source": {"how": "told"}},
    "key": "reboot:db-7",
    "lease": "l" * 43,
    "lease_s": 30,
    "keep_until": datetime(2027, 1, 1, tzinfo=UTC),
    "kind": "entity_fact",
    "kinds": ["gotcha"],
    "lesson": ONE,
    "lessons": [{"text": "t", "situation": "s", "source": {"how": "told"}}, {"text": ""}],
    "limit": 3,
    "min_confidence": 0.2,
    "mine": True,
    "conversation": [{"role": "user", "text": "db-7 is slow"}],
    "hours": 48,
    "incident": "inc-7",
    "message": "reboot it?",
    "most": 2,
    "name": "agent-b",
    "note": "not any more",
    "page_size": 3,
    "policy": policy(),
    "query": "deploy",
    "rationale": "it was seen",
    "reason": "too narrow",
    "receipt": RECEIPT,
    "receipts": [RECEIPT],
    "ref": "run:88",
    "ref_prefix": "runbook.md#",
    "replaces": [ONE],
    "require": "vector",
    "result": "rebooted",
    "review": REVIEW,
    "revoke_others": True,
    "newest": TOKEN,
    "role": "writer",
    "seen_tick": 6,
    "should_be": "unrelated",
    "since": date(2026, 2, 1),
    "situation": "deploying",
    "source": observed("run:88"),
    "sources": ["observed"],
    "state": "any",
    "status": "any",
    "subject": "deploy-api",
    "tags": {"env": "prod"},
    "text": "needs X-Batch",
    "timeline.before": 7,
    "to": 7,
    "token": TOKEN,
    "transcript": [{"role": "tool", "text": "429"}],
    "unsure": True,
    "until": date(2026, 3, 1),
    "valid_from": datetime(2026, 1, 1, tzinfo=UTC),
    "valid_until": datetime(2026, 6, 1, tzinfo=UTC),
    "wait": False,
    "wait_s": 1.0,
    "when": 7,
    "worked": False,
}
"""A value for each parameter by its name, and by method and name where the name alone does not say it."""
FACES: dict[str, Callable[[Any], Any]] = {
    "Memory": lambda memory: memory,
    "Curation": lambda memory: memory.curation,
    "View": lambda memory: memory.as_of(7),
    "Actions": lambda memory: memory.actions,
}
"""How one comes to each class that has an asynchronous twin."""
METHODS = [
    (face, name)
    for face in FACES
    for name, member in inspect.getmembers(getattr(client, face))
    if not name.startswith("_") and inspect.isfunction(member)
]
FIGURES = {"calls": 3, "failed": 1, "unpriced": 1, "input_tokens": 9, "output_tokens": 2, "cost_usd": 0.25}
NEW_TOKEN = {"id": TOKEN, "token": "trb_new", "expires_at": AT}
KEPT_TOKEN = {"id": TOKEN, "agent": AGENT, "created_at": AT, "expires_at": AT, "revoked_at": None, "last_used_at": None}
BUDGET = {"calls_per_day": None, "usd_per_day": 1.0, "calls_today": 3, "usd_today": 0.25, "spent": False}


def sample(method: str, parameter: str) -> Any:
    """Returns a value for a parameter of a method; fails for one that nobody thought of."""
    return SAMPLES[f"{method}.{parameter}"] if f"{method}.{parameter}" in SAMPLES else SAMPLES[parameter]


def required(face: str, method: str) -> dict[str, Any]:
    """Returns arguments for what a method cannot be called without."""
    parameters = list(inspect.signature(getattr(getattr(client, face), method)).parameters.values())[1:]
    return {one.name: sample(method, one.name) for one in parameters if one.default is inspect.Parameter.empty}


def action(**over: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"id": "act_" + "6" * 32, "key": "reboot:db-7", "description": "reboot db-7", "state": "done"}
    known |= {"agent": "agent-a", "attempt": 1, "begun_at": AT, "lease_until": AT, "ended_at": AT, "result": "rebooted"}
    return {**known, "failure": None, "doubt": None, "reconciled_by": None, "note": None, **over}


def agent(**over: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"id": AGENT, "name": "agent-a", "role": "writer", "created_at": AT}
    return {**known, "revoked_at": None, "last_used_at": None, **over}


def tribe() -> Tribe:
    """Returns a tribe that answers every operation."""
    made = curated(Tribe())
    made.replies |= {
        "costs": {
            "since": "2026-02-01",
            "until": "2026-03-01",
            "by": "model",
            "rows": [],
            "total": {"key": "total", "name": None, **FIGURES},
            "unpriced_models": [],
            "budget": BUDGET,
        },
        "stats": {
            "tick": 7,
            "at": AT,
            "lessons": {"active": 3},
            "open_disputes": 1,
            "open_challenges": 0,
            "spaces": [],
            "agents": {"writer": 2},
            "calls": {"today": {}, "last_7_days": {}},
            "by_agent": None,
        },
        "activity": ACTIVITY,
        "evaluations": {"runs": [EVALUATION]},
        "status": {"usable": True, "paths": [], "observations": [], "gardening": None},
        "agents": {"agents": [agent()], "next": None, "receipt": receipt(1)},
        "create_agent": NEW_TOKEN | {"agent": agent()},
        "agent": agent(),
        "tokens": {"tokens": [KEPT_TOKEN], "next": None, "receipt": receipt(1)},
        "new_token": NEW_TOKEN | {"agent": agent()},
        "set_role": agent(role="curator"),
        "revoke_agent": agent(revoked_at=AT),
        "revoke_token": KEPT_TOKEN | {"revoked_at": AT},
        "me": {"agent": AGENT, "name": "agent-a", "role": "writer", "tribe": "local"},
        "announce_evidence": {"id": "sha256:0", "bytes": 12, "content_type": "text/plain", "name": None, "upload": None},
        "evidence": json.loads(FILE),
        "respond": {
            **{"text": "rebooted", "withheld": False, "stopped": None, "incident": "inc-7", "learned": [], "actions": []},
            **{
                "unsearched": [],
                "receipts": [{"query": "q", "receipt": receipt(1)}],
                "rounds": 1,
                "tool_calls": 0,
                "model": "scripted",
            },
        },
        "begin_action": {"outcome": "granted", "action": action(state="begun", result=None), "lease": "l" * 43},
        "complete_action": {"action": action(), "learned": None, "problem": None},
        "fail_action": action(state="failed", result=None, failure="it was not there"),
        "renew_action": action(state="begun", result=None),
        "reconcile_action": action(reconciled_by="ada", note="seen"),
        "action": action(),
        "actions": {"actions": [action()], "next": None, "receipt": receipt(1)},
    }
    return made


Ending = str
"""What a try comes to: an error's code, `lost`, `refused`, `cut`, `garbled` or `ok`."""
ENDINGS: list[Ending] = ["unavailable", "overloaded", "model_failed", "not_found", "forbidden", "wrong_standing", "internal"]
ENDINGS += ["lost", "refused", "cut", "garbled", "ok"]


@dataclass
class Wire:
    """A tribe whose first replies go as scripted, and what was sent to it."""

    script: list[Ending]
    tribe: Tribe = field(default_factory=tribe)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        ending = self.script.pop(0) if self.script else "ok"
        if ending in ("refused", "cut"):
            self.tribe.requests.append(request)
            raise httpx.ConnectError("refused") if ending == "refused" else httpx.ReadError("connection reset")
        reply = self.tribe(request)
        if ending == "lost":
            raise httpx.ReadTimeout("slow", request=request)
        if ending == "garbled":
            return httpx.Response(200, text="<html>")
        if ending != "ok":
            return problem(ending)
        document = reply.json()
        if "next" in document and request.url.params.get("before") is None:
            document["next"] = 7 if "events" in document else "7"
        return httpx.Response(reply.status_code, json=document)

    def sent(self) -> list[tuple[object, ...]]:
        """Returns the requests, with keys that were made as numbers in the order in which they came."""
        keys: dict[str, str] = {"key-1": "key-1"}
        found: list[tuple[object, ...]] = []
        for one in self.tribe.requests:
            headers = dict(one.headers)
            if key := headers.get("idempotency-key"):
                headers["idempotency-key"] = keys.setdefault(key, f"made-{len(keys)}")
            found.append((one.method, str(one.url), headers, one.content))
        return found
