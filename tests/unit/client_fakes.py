"""A transport that speaks the contract, the documents that it sends, and a clock that only waiting moves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import httpx

from tributary.client import Memory
from tributary.contract.problems import PROBLEMS
from tributary.contract.routes import ROUTES, Route

URL = "http://127.0.0.1:8377"
TOKEN = "trb_a-secret-that-nobody-may-see"
ONE = "les_" + "1" * 32
TWO = "les_" + "2" * 32
AT = "2026-03-01T12:00:00+00:00"


def lesson(lesson_id: str = ONE, **over: Any) -> dict[str, Any]:
    return {
        "id": lesson_id,
        "text": "The deploy API needs X-Batch: true",
        "situation": "deploying a service",
        "subject": "deploy-api",
        "kind": "gotcha",
        "status": "active",
        "tags": {},
        "source": {"how": "observed", "ref": "run:88"},
        "evidence": [],
        "rationale": None,
        "author": "agent-a",
        "confidence": 0.74,
        "stated_confidence": 0.7,
        "confirmations": 1,
        "contradictions": 0,
        "valid_from": None,
        "valid_until": None,
        "keep_until": None,
        "learned": {"tick": 7, "at": AT},
        "activated": {"tick": 7, "at": AT},
        "deactivated": None,
        "superseded_by": None,
        **over,
    }


def receipt(returned: int, **over: Any) -> dict[str, Any]:
    return {
        "id": "rcp_" + "9" * 32,
        "searched": [{"tribe": "t", "tick": 7, "at": AT, "settled": True}],
        "query_digest": "abc",
        "filters": {},
        "paths": ["vector:exact", "terms"],
        "space": "s",
        "floor": 0.3,
        "considered": 57,
        "returned": returned,
        "excluded": [],
        "hits": [{"id": ONE, "score": 0.81, "similarity": 0.8, "terms": {}}] * returned,
        "coverage": "complete",
        "causes": [],
        "may_assert_absence": returned == 0,
        "ranking": "v2",
        "ms": {"embed": 13.0},
        "key": "k1",
        "signature": "sig",
        **over,
    }


def hit(lesson_id: str = ONE, **over: Any) -> dict[str, Any]:
    shown = {"lesson": lesson(lesson_id), "score": 0.81, "terms": {"similarity": 0.88}, "confidence": 0.74, "label": None}
    return {**shown, "challenges": [], **over}


def learned(**over: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "outcome": "learned",
        "lesson": lesson(),
        "replaced": [],
        "dispute": None,
        "challenges": [],
        "reason": "new",
    }
    return {**known, "decision": "dec_1", "tick": 7, "replayed": False, **over}


def distilled(**over: Any) -> dict[str, Any]:
    proposed = {
        "text": "The deploy API needs X-Batch: true",
        "situation": "deploying a service",
        "source": {"how": "observed", "ref": "run:88#turn-2"},
        "kind": "gotcha",
        "subject": "deploy-api",
        "tags": {},
        "evidence": [{"type": "transcript", "ref": "run:88#turn-2", "note": "429 Too Many Requests"}],
        "rationale": None,
        "confidence": 0.8,
    }
    return {"lessons": [proposed], "dropped": [{"why": "not_quoted", "count": 2}], "unread": [], "model": "m/1", **over}


def event(tick: int = 7, **over: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"tick": tick, "at": AT, "event": "learned", "status": "active", "by": "agent-a", "decision": None}
    why = dict.fromkeys(("ending", "cause", "other", "successor", "receipt", "since", "space"))
    return {**known, "disputes": [], **why, **over}


def change(tick: int = 7, **over: Any) -> dict[str, Any]:
    return {**event(tick), "lesson": ONE, "kind": "gotcha", "subject": None, "text": "needs X-Batch", "held": False, **over}


def changes(*ticks: int, after: int = 0, clock: int | None = None, tick: int | None = None) -> dict[str, Any]:
    upto = tick if tick is not None else max(ticks, default=0)
    known = clock if clock is not None else upto
    return {"changes": [change(one) for one in ticks], "after": after, "tick": upto, "clock": known, "more": upto < known}


def diff(**over: Any) -> dict[str, Any]:
    began = {"change": "began", "how": "learned", "at": AT, "event": event(), "lesson": lesson(), "replaced": [TWO]}
    withered: dict[str, Any] = {
        **began,
        "change": "ended",
        "how": "withered",
        "event": None,
        "lesson": lesson(TWO),
        "replaced": [],
    }
    known: dict[str, Any] = {"since": {"tick": 3, "at": AT}, "until": {"tick": 7, "at": AT}, "began": 1, "ended": 1}
    return {**known, "changes": [began, withered], "next": None, "receipt": receipt(2), **over}


def timeline(**over: Any) -> dict[str, Any]:
    link: dict[str, Any] = {"id": TWO, "status": "superseded", "text": None, "learned": {"tick": 3, "at": AT}}
    link |= {"activated": {"tick": 3, "at": AT}, "deactivated": {"tick": 7, "at": AT}, "superseded_by": ONE, "held": False}
    cited = {"id": "rcp_" + "8" * 32, "tick": 6, "coverage": "complete", "query_digest": None, "hits": [TWO]}
    ruling = {
        "id": "dec_" + "1" * 32,
        "tick": 7,
        "outcome": "superseded",
        "reason": "its own author says so",
        "receipts": [cited],
    }
    chains = {"predecessors": {"lessons": [link], "more": False}, "successors": {"lessons": [], "more": False}}
    known = {"lesson": lesson(), "events": [event()], "decisions": [ruling], **chains, "next": None, "receipt": receipt(1)}
    return {**known, **over}


def problem(code: str, detail: str = "what was wrong", **over: Any) -> httpx.Response:
    kind = PROBLEMS[code]
    headers = {} if kind.retry_after_s is None else {"Retry-After": str(kind.retry_after_s)}
    document = {"type": f"/docs#{code}", "title": kind.title, "status": kind.status, "code": code, "detail": detail, **over}
    return httpx.Response(kind.status, json=document, headers={"Content-Type": "application/problem+json", **headers})


class Tribe:
    """Answers as the API's routes do: checks token, route, body and key, and keeps first replies by key.

    `before` is asked first: what it returns is sent instead, what it raises ends the connection. With `losing`, so many
    replies are lost after the request was carried out.
    """

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.before: Callable[[httpx.Request], httpx.Response | None] = lambda _: None
        self.losing = 0
        self.kept: dict[str, tuple[bytes, dict[str, Any]]] = {}
        self.replies: dict[str, dict[str, Any]] = {
            "learn": learned(),
            "reinforce": {"outcome": "reinforced", "lesson": lesson(), "reason": "r", "tick": 8, "replayed": False},
            "recall": {"hits": [hit()], "receipt": receipt(1)},
            "verify": {"verdict": "agrees", "causes": [], "differences": [], "erased": [], "missed": []},
            "lessons": {"lessons": [lesson()], "next": None, "receipt": receipt(1)},
            "lesson": {"lesson": lesson(), "challenges": [], "receipt": receipt(1)},
            "timeline": timeline(),
            "changes": changes(7),
            "diff": diff(),
            "distill": distilled(),
            "health": {"status": "ok", "version": "0.1.0"},
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        early = self.before(request)
        if early is not None:
            return early
        response = self._answer(request)
        if self.losing:
            self.losing -= 1
            raise httpx.ReadError("connection reset", request=request)
        return response

    def _answer(self, request: httpx.Request) -> httpx.Response:
        route = self._route(request)
        if route.role is not None and request.headers.get("authorization") != f"Bearer {TOKEN}":
            return problem("unauthenticated")
        if route.request is not None:
            assert request.headers["content-type"] == "application/json"
            route.request.model_validate_json(request.content)
        allowed = {parameter.name for parameter in route.query}
        assert set(request.url.params) <= allowed
        reply = self.replies[route.operation]
        if not route.keyed:
            return httpx.Response(200, json=reply)
        key = request.headers["idempotency-key"]
        first_body, first_reply = self.kept.setdefault(key, (request.content, reply))
        if first_body != request.content:
            return problem("idempotency_conflict")
        replayed = len([one for one in self.requests if one.headers.get("idempotency-key") == key]) > 1
        status = 202 if reply.get("outcome") == "pending" else 200
        return httpx.Response(status, json={**first_reply, "replayed": replayed})

    def _route(self, request: httpx.Request) -> Route:
        for route in ROUTES:
            pattern = re.sub(r"\{\w+\}", "[^/]+", route.path)
            if route.method == request.method and re.fullmatch(pattern, unquote(request.url.path)):
                return route
        raise AssertionError(f"no route for {request.method} {request.url.path}")


class Hands:
    """A clock that moves only when something waits, and the waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def opened(tribe: Callable[[httpx.Request], httpx.Response], hands: Hands, *, timeout_s: float = 60.0) -> Memory:
    """Returns an SDK memory that talks to `tribe` and waits on `hands`."""
    return Memory(
        URL,
        TOKEN,
        timeout_s=timeout_s,
        transport=httpx.MockTransport(tribe),
        environment={},
        clock=hands.clock,
        sleep=hands.sleep,
        jitter=lambda: 1.0,
    )
