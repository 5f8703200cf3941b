"""Durable actions: begin, complete, fail, renew, reconcile, and look."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.contract import actions as contract
from tributary.core.action import ActionState
from tributary.edges.lambda_http import action_words as words
from tributary.edges.lambda_http import translate
from tributary.edges.lambda_http.operations.ask import Ask, Operation, page_of
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _begin(ask: Ask) -> HttpReply:
    key, request, principal = ask.key(), ask.body(contract.BeginActionRequest), ask.principal
    begun = ask.memory.actions.begin(principal, request.key, request.description, lease_s=request.lease_s, idempotency_key=key)
    return of_model(words.begun(begun))


def _actions(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    state = None if given["state"] == "any" else ActionState(given["state"])
    return of_model(words.actions(ask.memory.actions.actions(principal, state=state, **page_of(given))))


def _action(ask: Ask) -> HttpReply:
    ask.query()
    principal, action_id = ask.principal, ask.id()
    return of_model(words.action(ask.memory.actions.action(principal, action_id)))


def _complete(ask: Ask) -> HttpReply:
    key, request, principal, action_id = ask.key(), ask.body(contract.CompleteActionRequest), ask.principal, ask.id()
    lesson = request.lesson
    completed = ask.memory.actions.complete(
        principal,
        action_id,
        request.lease,
        request.result,
        lesson=None if lesson is None else translate.draft(lesson),
        deadline_s=ask.deadline_s(None if lesson is None else lesson.deadline_s),
        wait=lesson is None or lesson.wait,
        idempotency_key=key,
    )
    return of_model(words.completed(completed, now=ask.now()))


def _fail(ask: Ask) -> HttpReply:
    key, request, principal, action_id = ask.key(), ask.body(contract.FailActionRequest), ask.principal, ask.id()
    failed = ask.memory.actions.fail(
        principal, action_id, request.lease, request.failure, unsure=request.unsure, idempotency_key=key
    )
    return of_model(words.action(failed))


def _renew(ask: Ask) -> HttpReply:
    key, request, principal, action_id = ask.key(), ask.body(contract.RenewActionRequest), ask.principal, ask.id()
    renewed = ask.memory.actions.renew(principal, action_id, request.lease, lease_s=request.lease_s, idempotency_key=key)
    return of_model(words.action(renewed))


def _reconcile(ask: Ask) -> HttpReply:
    key, request, principal, action_id = ask.key(), ask.body(contract.ReconcileActionRequest), ask.principal, ask.id()
    reconciled = ask.memory.actions.reconcile(
        principal,
        action_id,
        happened=request.happened,
        rationale=request.rationale,
        result=request.result,
        idempotency_key=key,
    )
    return of_model(words.action(reconciled))


ACTIONS: Mapping[str, Operation] = {
    "begin_action": _begin,
    "actions": _actions,
    "action": _action,
    "complete_action": _complete,
    "fail_action": _fail,
    "renew_action": _renew,
    "reconcile_action": _reconcile,
}
