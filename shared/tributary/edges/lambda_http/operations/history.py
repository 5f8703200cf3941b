"""What happened: timelines of lessons, the feed of changes, and the difference between two moments."""

from __future__ import annotations

from collections.abc import Mapping

from tributary.edges.lambda_http import history_words as words
from tributary.edges.lambda_http.operations.ask import Ask, Operation, page_of
from tributary.edges.lambda_http.query import as_of
from tributary.edges.lambda_http.reply import HttpReply, of_model


def _timeline(ask: Ask) -> HttpReply:
    given, principal, lesson_id = ask.query(), ask.principal, ask.id()
    before = int(given["before"]) if "before" in given else None
    return of_model(words.timeline(ask.memory.history.timeline(principal, lesson_id, limit=int(given["limit"]), before=before)))


def _changes(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    page = ask.memory.history.changes(
        principal,
        after=int(given["after"]),
        limit=int(given["limit"]),
        newest=given["newest"] == "true",
        wait_s=ask.deadline_s(float(given["wait_s"])) or 0.0,
        stop=ask.stopping,
    )
    return of_model(words.changes(page))


def _diff(ask: Ask) -> HttpReply:
    given, principal = ask.query(), ask.principal
    since, until = as_of(given, "from"), as_of(given, "to")
    # `from` has a default
    return of_model(words.diff(ask.memory.diff(principal, since=since or 0, until=until, **page_of(given))))


HISTORY: Mapping[str, Operation] = {"timeline": _timeline, "changes": _changes, "diff": _diff}
