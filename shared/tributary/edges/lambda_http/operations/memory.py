"""The memory itself: learn, recall and what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from http import HTTPStatus

from tributary import __version__
from tributary.contract import distilling, models
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import TributaryError
from tributary.core.lesson import Draft, Kind, Status
from tributary.core.requests import Filters
from tributary.edges.lambda_http import translate
from tributary.edges.lambda_http.body import read_item
from tributary.edges.lambda_http.operations.ask import Ask, Operation, page_of
from tributary.edges.lambda_http.problems import Refused, invalid_field, problem_of
from tributary.edges.lambda_http.query import as_of, tags
from tributary.edges.lambda_http.reply import HttpReply, of_model
from tributary.telemetry import Metric, metrics


def _learn(ask: Ask) -> HttpReply:
    key = ask.key()
    request = ask.body(models.LearnRequest)
    principal, draft, deadline_s = ask.principal, translate.draft(request), ask.deadline_s(request.deadline_s)
    return learned_reply(ask, ask.memory.learn(principal, draft, idempotency_key=key, deadline_s=deadline_s, wait=request.wait))


def _learn_batch(ask: Ask) -> HttpReply:
    """Lessons that are malformed keep their place in the reply; the service is asked for the others alone."""
    key = ask.key()
    request = ask.body(models.BatchRequest)
    principal, deadline_s = ask.principal, ask.deadline_s(request.deadline_s)
    read = [_read_lesson(item) for item in request.lessons]
    drafts = [one for one in read if isinstance(one, Draft)]
    attempts: Iterator[Learned | TributaryError] = iter(())
    if drafts:
        attempts = iter(ask.memory.learn_all(principal, drafts, idempotency_key=key, deadline_s=deadline_s, wait=request.wait))
    items = [_item(one if isinstance(one, Refused) else next(attempts), ask.now()) for one in read]
    pending = any(one.status == HTTPStatus.ACCEPTED for one in items)
    if failed := sum(one.result is None for one in items):
        metrics.record(Metric.LEARNED, failed, of="failed")
    return of_model(models.BatchReply(items=items), status=HTTPStatus.ACCEPTED if pending else HTTPStatus.OK)


def _read_lesson(item: object) -> Draft | Refused:
    if not isinstance(item, dict):
        return invalid_field("lesson", "must be an object")
    try:
        return translate.draft(read_item(item, models.LessonRequest))
    except Refused as error:
        return error


def _item(attempt: Learned | TributaryError | Refused, now: datetime) -> models.BatchItemReply:
    if isinstance(attempt, Learned):
        status = HTTPStatus.ACCEPTED if attempt.outcome is Outcome.PENDING else HTTPStatus.OK
        return models.BatchItemReply(status=status, result=translate.learned(attempt, now=now), problem=None)
    problem = problem_of(attempt, operation=None)
    return models.BatchItemReply(status=problem.status, result=None, problem=problem)


def _contest(ask: Ask) -> HttpReply:
    key = ask.key()
    request = ask.body(models.ContestRequest)
    principal, lesson_id, deadline_s = ask.principal, ask.id(), ask.deadline_s(request.deadline_s)
    counter = translate.counter_claim(request)
    return learned_reply(ask, ask.memory.contest(principal, lesson_id, counter, idempotency_key=key, deadline_s=deadline_s))


def learned_reply(ask: Ask, learned: Learned) -> HttpReply:
    """Returns what became of a lesson: 202 while it is pending."""
    status = HTTPStatus.ACCEPTED if learned.outcome is Outcome.PENDING else HTTPStatus.OK
    return of_model(translate.learned(learned, now=ask.now()), status=status)


def _reinforce(ask: Ask) -> HttpReply:
    key = ask.key()
    request = ask.body(models.ReinforceRequest)
    principal, lesson_id = ask.principal, ask.id()
    reinforced = ask.memory.reinforce(principal, lesson_id, idempotency_key=key, receipt=request.receipt)
    return of_model(translate.reinforced(reinforced, now=ask.now()))


def _distill(ask: Ask) -> HttpReply:
    ask.query()
    request = ask.body(distilling.DistillRequest)
    principal, transcript, deadline_s = ask.principal, translate.transcript(request), ask.deadline_s(request.deadline_s)
    found = ask.memory.distill(principal, transcript, most=request.most, deadline_s=deadline_s)
    return of_model(translate.distilled(found))


def _recall(ask: Ask) -> HttpReply:
    ask.query()
    question = translate.question(ask.body(models.RecallRequest))
    principal = ask.principal
    return of_model(translate.recalled(ask.memory.recall(principal, question)))


def _verify(ask: Ask) -> HttpReply:
    ask.query()
    request = ask.body(models.VerifyRequest)
    principal = ask.principal
    return of_model(translate.verification(ask.memory.verify(principal, request.receipt, request.query)))


def _lessons(ask: Ask) -> HttpReply:
    given = ask.query()
    principal, instant = ask.principal, as_of(given)
    status = given.get("status", Status.ACTIVE.value)
    listing = ask.memory.lessons(
        principal,
        status=None if status == "any" else Status(status),
        **page_of(given),
        as_of=instant,
        ref=given.get("ref"),
        ref_prefix=given.get("ref_prefix"),
        mine=given["mine"] == "true",
        filters=Filters(
            kind=Kind(given["kind"]) if "kind" in given else None,
            subject=given.get("subject"),
            tags=tags(ask.repeated("tag")),
            author=given.get("author"),
        ),
    )
    return of_model(translate.listing(listing))


def _lesson(ask: Ask) -> HttpReply:
    principal, lesson_id, instant = ask.principal, ask.id(), as_of(ask.query())
    return of_model(translate.detail(ask.memory.lesson(principal, lesson_id, as_of=instant)))


def _health(ask: Ask) -> HttpReply:
    ask.query()
    ask.door.health()
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


MEMORY: Mapping[str, Operation] = {
    "learn": _learn,
    "learn_batch": _learn_batch,
    "contest": _contest,
    "reinforce": _reinforce,
    "distill": _distill,
    "recall": _recall,
    "verify": _verify,
    "lessons": _lessons,
    "lesson": _lesson,
    "health": _health,
    "openapi": _openapi,
    "docs": _docs,
}
