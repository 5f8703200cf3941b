"""The incident agent's turn."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.contract import responding as contract
from tributary.contract.limits import TIMEOUT_S
from tributary.edges.lambda_http.operations.ask import Ask, Operation
from tributary.edges.lambda_http.reply import HttpReply, of_model

SPARE_S = 2.0
"""Kept back of the time after which API Gateway gives up: the function itself may run for longer, when it is invoked directly."""


def _respond(ask: Ask) -> HttpReply:
    from tributary.edges.lambda_http import responder_words as words
    from tributary.responder import Responder

    ask.query()
    request = ask.body(contract.RespondRequest)
    most_s = TIMEOUT_S - SPARE_S if request.deadline_s is None else min(request.deadline_s, TIMEOUT_S - SPARE_S)
    turn, principal = words.turn(request, deadline_s=ask.deadline_s(most_s)), ask.principal
    return of_model(words.turn_reply(Responder(memory=ask.memory).turn(principal, turn), now=ask.now()))


RESPONDER: Mapping[str, Operation] = {"respond": _respond}
