"""What each operation of the route table does: read the request, ask the service, translate what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from tributary import __version__
from tributary.contract import models
from tributary.contract.routes import Route
from tributary.core import ids
from tributary.core.agent import Principal
from tributary.core.clock import Now
from tributary.core.decision import Outcome
from tributary.core.errors import Unauthenticated
from tributary.core.lesson import Status
from tributary.core.receipt import Receipt, SearchPath
from tributary.edges.lambda_http import translate
from tributary.edges.lambda_http.body import read_body
from tributary.edges.lambda_http.headers import idempotency_key
from tributary.edges.lambda_http.port import Event, MemoryFace, OpenMemory
from tributary.edges.lambda_http.query import as_of, read_query
from tributary.edges.lambda_http.reply import HttpReply, Measure, of_model


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request whose caller was identified and may do this. `remaining_s` is what is left before the caller is cut off."""

    event: Event
    route: Route
    path: Mapping[str, str]
    identity: Principal | None
    open_memory: OpenMemory
    remaining_s: float | None
    now: Now

    @property
    def principal(self) -> Principal:
        """The caller; raises Unauthenticated on a route that let nobody in."""
        if self.identity is None:
            raise Unauthenticated
        return self.identity

    @property
    def memory(self) -> MemoryFace:
        """The service. Operations ask for it last, so that a malformed request never reaches it."""
        return self.open_memory()

    def lesson_id(self) -> UUID:
        return ids.parse(ids.Prefix.LESSON, self.path["id"], field="id")

    def query(self) -> Mapping[str, str]:
        return read_query(self.event, self.route.query)

    def deadline_s(self, wanted_s: float | None) -> float | None:
        """Returns the sooner of what the caller asks for and what is left."""
        bounds = [bound for bound in (wanted_s, self.remaining_s) if bound is not None]
        return min(bounds) if bounds else None


Operation = Callable[[Ask], HttpReply]


def _learn(ask: Ask) -> HttpReply:
    ask.query()
    key = idempotency_key(ask.event)
    request = read_body(ask.event, models.LearnRequest)
    principal, draft, deadline_s = ask.principal, translate.draft(request), ask.deadline_s(request.deadline_s)
    learned = ask.memory.learn(principal, draft, idempotency_key=key, deadline_s=deadline_s)
    status = HTTPStatus.ACCEPTED if learned.outcome is Outcome.PENDING else HTTPStatus.OK
    measures = (Measure(name="Learned", dimensions={"outcome": learned.outcome.value}),)
    return of_model(translate.learned(learned, now=ask.now()), status=status, measures=measures)


def _reinforce(ask: Ask) -> HttpReply:
    ask.query()
    key = idempotency_key(ask.event)
    read_body(ask.event, models.ReinforceRequest)
    principal, lesson_id = ask.principal, ask.lesson_id()
    reinforced = ask.memory.reinforce(principal, lesson_id, idempotency_key=key)
    measures = (Measure(name="Learned", dimensions={"outcome": reinforced.outcome.value}),)
    return of_model(translate.reinforced(reinforced, now=ask.now()), measures=measures)


def _recall(ask: Ask) -> HttpReply:
    ask.query()
    question = translate.question(read_body(ask.event, models.RecallRequest))
    principal = ask.principal
    recalled = ask.memory.recall(principal, question)
    return of_model(translate.recalled(recalled), measures=_search_measures(recalled.receipt))


def _lessons(ask: Ask) -> HttpReply:
    given = ask.query()
    principal, instant = ask.principal, as_of(given)
    status = given.get("status", Status.ACTIVE.value)
    listing = ask.memory.lessons(
        principal,
        status=None if status == "any" else Status(status),
        limit=int(given["limit"]),
        before=given.get("before"),
        as_of=instant,
    )
    return of_model(translate.listing(listing))


def _lesson(ask: Ask) -> HttpReply:
    principal, lesson_id, instant = ask.principal, ask.lesson_id(), as_of(ask.query())
    return of_model(translate.detail(ask.memory.lesson(principal, lesson_id, as_of=instant)))


def _health(ask: Ask) -> HttpReply:
    ask.query()
    ask.memory.health()
    return of_model(models.HealthReply(status="ok", version=__version__))


def _openapi(ask: Ask) -> HttpReply:
    from tributary.edges.lambda_http.openapi import document_json

    ask.query()
    return HttpReply(status=HTTPStatus.OK, body=document_json())


def _docs(ask: Ask) -> HttpReply:
    from tributary.edges.lambda_http.page import CONTENT_SECURITY_POLICY, page

    ask.query()
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Referrer-Policy": "no-referrer"}
    return HttpReply(status=HTTPStatus.OK, body=page(), content_type="text/html; charset=utf-8", headers=headers)


def _search_measures(receipt: Receipt) -> tuple[Measure, ...]:
    vectors = next((path.value for path in receipt.paths if path in _VECTOR_PATHS), "none")
    took_ms = sum(receipt.ms.values())
    return (
        Measure(name="Coverage", dimensions={"coverage": receipt.coverage.value}),
        Measure(name="RecallLatency", value=took_ms, unit="Milliseconds", dimensions={"path": vectors}),
    )


_VECTOR_PATHS = (SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW)

OPERATIONS: Mapping[str, Operation] = {
    "learn": _learn,
    "reinforce": _reinforce,
    "recall": _recall,
    "lessons": _lessons,
    "lesson": _lesson,
    "health": _health,
    "openapi": _openapi,
    "docs": _docs,
}
"""Operation of a route -> what it does. That each route has one is tested."""
