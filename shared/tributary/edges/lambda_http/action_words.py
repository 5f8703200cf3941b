"""Between the contract's models of durable actions and the core's types."""

from __future__ import annotations

from datetime import datetime

from tributary.contract import actions as contract
from tributary.core import ids
from tributary.core.action import Action, Begun, Completed
from tributary.core.requests import Page
from tributary.edges.lambda_http import translate
from tributary.edges.lambda_http.problems import problem_of


def action(one: Action) -> contract.ActionReply:
    return contract.ActionReply(
        id=ids.show(ids.Prefix.ACTION, one.action_id),
        key=one.key,
        description=one.description,
        state=one.state.value,
        agent=one.agent,
        attempt=one.attempt,
        begun_at=one.begun_at,
        lease_until=one.lease_until,
        ended_at=one.ended_at,
        result=one.result,
        failure=one.failure,
        doubt=None if one.doubt is None else one.doubt.value,
        reconciled_by=one.reconciled_by,
        note=one.note,
    )


def begun(one: Begun) -> contract.BegunReply:
    return contract.BegunReply(outcome=one.outcome.value, action=action(one.action), lease=one.lease)


def completed(one: Completed, *, now: datetime) -> contract.CompletedReply:
    return contract.CompletedReply(
        action=action(one.action),
        learned=None if one.learned is None else translate.learned(one.learned, now=now),
        problem=None if one.refused is None else problem_of(one.refused, operation=None),
    )


def actions(page: Page[Action]) -> contract.ActionsReply:
    return contract.ActionsReply(
        actions=[action(one) for one in page.items], next=page.next_before, receipt=translate.receipt(page.receipt)
    )
