"""Durable actions for tests of the HTTP edge: notes what it is asked and answers simply."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from tests.contract.stand_in_curation import Note
from tests.unit import core_made as made
from tributary.actions import Actions
from tributary.core.action import Action, ActionState, BeginOutcome, Begun, Completed
from tributary.core.agent import Principal
from tributary.core.errors import WrongStanding
from tributary.core.lesson import Draft
from tributary.core.requests import Page

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACTION = UUID(int=9)
LEASE = "lease_" + "0" * 64


def action_of(action_id: UUID = ACTION, *, state: ActionState = ActionState.BEGUN, key: str = "k", **more: object) -> Action:
    ended = AT if state in (ActionState.DONE, ActionState.FAILED) else None
    fields: dict[str, object] = {
        "description": "made",
        "attempt": 1,
        "agent": "agent-writer",
        "begun_at": AT,
        "lease_until": AT,
        "ended_at": ended,
        **dict.fromkeys(("result", "failure", "doubt", "reconciled_by", "note")),
        **more,
    }
    return Action(action_id=action_id, key=key, state=state, **fields)  # type: ignore[arg-type]  # as the test named them


class StandInActions(Actions):
    """Gives everything as done; a lesson that comes with a completion is refused."""

    def __init__(self, note: Note) -> None:
        object.__setattr__(self, "note", note)

    note: Note

    def begin(
        self, principal: Principal, key: str, description: str, *, lease_s: int = 60, idempotency_key: str | None = None
    ) -> Begun:
        self.note(
            "begin_action",
            principal=principal,
            key=key,
            description=description,
            lease_s=lease_s,
            idempotency_key=idempotency_key,
        )
        return Begun(outcome=BeginOutcome.GRANTED, action=action_of(key=key, description=description), lease=LEASE)

    def complete(
        self,
        principal: Principal,
        action_id: UUID,
        lease: str,
        result: object,
        *,
        lesson: Draft | None = None,
        deadline_s: float | None = None,
        wait: bool = True,
        idempotency_key: str | None = None,
    ) -> Completed:
        self.note(
            "complete_action",
            principal=principal,
            action_id=action_id,
            lease=lease,
            result=result,
            lesson=lesson,
            deadline_s=deadline_s,
            wait=wait,
            idempotency_key=idempotency_key,
        )
        refused = None if lesson is None else WrongStanding("a curator erased the very same words")
        return Completed(action=action_of(action_id, state=ActionState.DONE, result=result), learned=None, refused=refused)

    def fail(
        self,
        principal: Principal,
        action_id: UUID,
        lease: str,
        failure: str,
        *,
        unsure: bool = False,
        idempotency_key: str | None = None,
    ) -> Action:
        self.note(
            "fail_action",
            principal=principal,
            action_id=action_id,
            lease=lease,
            failure=failure,
            unsure=unsure,
            idempotency_key=idempotency_key,
        )
        return action_of(action_id, state=ActionState.FAILED, failure=failure)

    def renew(
        self, principal: Principal, action_id: UUID, lease: str, *, lease_s: int = 60, idempotency_key: str | None = None
    ) -> Action:
        self.note(
            "renew_action",
            principal=principal,
            action_id=action_id,
            lease=lease,
            lease_s=lease_s,
            idempotency_key=idempotency_key,
        )
        return action_of(action_id)

    def reconcile(
        self,
        principal: Principal,
        action_id: UUID,
        *,
        happened: bool,
        rationale: str,
        result: object = None,
        idempotency_key: str | None = None,
    ) -> Action:
        self.note(
            "reconcile_action",
            principal=principal,
            action_id=action_id,
            happened=happened,
            rationale=rationale,
            result=result,
            idempotency_key=idempotency_key,
        )
        return action_of(action_id, state=ActionState.DONE, result=result, reconciled_by="agent-curator", note=rationale)

    def action(self, principal: Principal, action_id: UUID) -> Action:
        self.note("action", principal=principal, action_id=action_id)
        return action_of(action_id)

    def actions(
        self, principal: Principal, *, state: ActionState | None = None, limit: int = 20, before: str | None = None
    ) -> Page[Action]:
        self.note("actions", principal=principal, state=state, limit=limit, before=before)
        return Page(items=(action_of(),), next_before=None, receipt=made.receipt(key="k1", signature="00"))
