"""Between the contract's models and the incident agent's types, both ways."""

from __future__ import annotations

from datetime import datetime

from tributary.contract import responding
from tributary.edges.lambda_http import translate
from tributary.responder import Acted, Said, Turn, TurnReply


def turn(request: responding.RespondRequest, *, deadline_s: float | None) -> Turn:
    return Turn(
        message=request.message,
        conversation=tuple(Said(role=one.role, text=one.text) for one in request.conversation),
        incident=request.incident,
        deadline_s=deadline_s,
    )


def turn_reply(reply: TurnReply, *, now: datetime) -> responding.RespondReply:
    return responding.RespondReply(
        text=reply.text,
        withheld=reply.withheld,
        stopped=None if reply.stopped is None else reply.stopped.value,
        incident=reply.incident,
        receipts=[responding.SearchReply(query=one.query, receipt=translate.receipt(one.receipt)) for one in reply.searched],
        unsearched=list(reply.unsearched),
        learned=[translate.learned(one, now=now) for one in reply.learned],
        actions=[_acted(one) for one in reply.actions],
        rounds=reply.rounds,
        tool_calls=reply.tool_calls,
        model=reply.model,
    )


def _acted(one: Acted) -> responding.ActedReply:
    return responding.ActedReply(
        action=one.action, key=one.key, verb=one.verb, target=one.target, outcome=one.outcome.value, detail=one.detail
    )
