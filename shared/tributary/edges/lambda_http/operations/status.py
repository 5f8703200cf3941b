"""The memory itself: how it is used, how busy it is, what it costs, and whether it can be used."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.core.costs import By
from tributary.edges.lambda_http import activity_words
from tributary.edges.lambda_http import status_words as words
from tributary.edges.lambda_http.operations.ask import Ask, Operation
from tributary.edges.lambda_http.query import day
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _me(ask: Ask) -> HttpReply:
    ask.query()
    return of_model(words.me(ask.principal))


def _stats(ask: Ask) -> HttpReply:
    ask.query()
    return of_model(words.stats(ask.memory.stats(ask.principal)))


def _status(ask: Ask) -> HttpReply:
    ask.query()
    return of_model(words.status(ask.memory.status(ask.principal)))


def _costs(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    since, until = day(given, "from"), day(given, "to")
    return of_model(words.costs(ask.memory.costs(principal, since=since, until=until, by=By(given["by"]))))


def _activity(ask: Ask) -> HttpReply:
    hours = int(ask.query()["hours"])
    return of_model(activity_words.activity(ask.memory.activity(ask.principal, hours=hours)))


def _evaluations(ask: Ask) -> HttpReply:
    limit = int(ask.query()["limit"])
    return of_model(activity_words.evaluations(ask.memory.evaluations(ask.principal, limit=limit)))


STATUS: Mapping[str, Operation] = {
    "me": _me,
    "stats": _stats,
    "status": _status,
    "costs": _costs,
    "activity": _activity,
    "evaluations": _evaluations,
}
