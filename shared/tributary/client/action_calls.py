"""One function per operation about durable actions: from arguments to the request to send and the way to read its reply. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel

from tributary.client.calls import Call, checked_key
from tributary.client.curation_calls import ListingPage, listing
from tributary.client.ids import ActionRef, action_id
from tributary.client.replies import read
from tributary.client.values import LessonDraft, as_request, checked
from tributary.contract import actions as contract
from tributary.contract.distilling import ProposedLessonReply

Model = TypeVar("Model", bound=BaseModel)
ActionFilter = Literal["begun", "done", "failed", "in_doubt", "any"]
GivenLesson = LessonDraft | ProposedLessonReply | Mapping[str, object]


def begin(key: str, *, description: str, lease_s: int, idempotency_key: str) -> Call[contract.BegunReply]:
    request = checked(lambda: contract.BeginActionRequest(key=key, description=description, lease_s=lease_s))
    return _write("begin_action", "/v1/actions", request.model_dump(), contract.BegunReply, idempotency_key)


def complete(
    which: ActionRef, *, lease: str, result: object, lesson: GivenLesson | None, idempotency_key: str
) -> Call[contract.CompletedReply]:
    checked(lambda: contract.CompleteActionRequest(lease=lease, result=result))
    body: dict[str, object] = {"lease": lease, "result": result}
    if lesson is not None:
        body["lesson"] = as_request(lesson).model_dump(mode="json", exclude_none=True, exclude_unset=True)
    return _held("complete", which, body, contract.CompletedReply, idempotency_key)


def fail(which: ActionRef, *, lease: str, failure: str, unsure: bool, idempotency_key: str) -> Call[contract.ActionReply]:
    request = checked(lambda: contract.FailActionRequest(lease=lease, failure=failure, unsure=unsure))
    return _held("fail", which, request.model_dump(), contract.ActionReply, idempotency_key)


def renew(which: ActionRef, *, lease: str, lease_s: int, idempotency_key: str) -> Call[contract.ActionReply]:
    request = checked(lambda: contract.RenewActionRequest(lease=lease, lease_s=lease_s))
    return _held("renew", which, request.model_dump(), contract.ActionReply, idempotency_key)


def reconcile(
    which: ActionRef, *, happened: bool, result: object, rationale: str, idempotency_key: str
) -> Call[contract.ActionReply]:
    request = checked(lambda: contract.ReconcileActionRequest(happened=happened, result=result, rationale=rationale))
    return _held("reconcile", which, request.model_dump(), contract.ActionReply, idempotency_key)


def action(which: ActionRef) -> Call[contract.ActionReply]:
    return Call(
        operation="action",
        method="GET",
        path=f"/v1/actions/{action_id(which)}",
        read=lambda body: read(contract.ActionReply, body),
    )


def actions(*, state: ActionFilter, page_size: int, before: str | None) -> Call[ListingPage[contract.ActionReply]]:
    return listing("actions", contract.ActionsReply, lambda page: page.actions, {"state": state}, page_size, before)


def _held(verb: str, which: ActionRef, body: Mapping[str, object], reply: type[Model], key: str) -> Call[Model]:
    return _write(f"{verb}_action", f"/v1/actions/{action_id(which)}/{verb}", body, reply, key)


def _write(operation: str, path: str, body: Mapping[str, object], reply: type[Model], key: str) -> Call[Model]:
    """Returns a call whose body says null where a result is null: there it says something."""
    return Call(
        operation=operation,
        method="POST",
        path=path,
        body=json.dumps(body, allow_nan=False).encode(),
        idempotency_key=checked_key(key),
        read=lambda answer: read(reply, answer),
    )
