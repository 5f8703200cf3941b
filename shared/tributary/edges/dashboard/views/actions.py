"""Durable actions: what agents did outside of the memory, and, of what is in doubt, what a curator found out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from tributary.client.errors import broken
from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.choices import choice
from tributary.edges.dashboard.visit import Visit

if TYPE_CHECKING:
    from tributary.client.action_calls import ActionFilter

PAGE_SIZE = 25
STATES = {"any": "All", "in_doubt": "In doubt", "begun": "Begun", "failed": "Failed", "done": "Done"}
MEANS = {
    "in_doubt": "nobody knows whether it happened",
    "begun": "its holder is at it",
    "failed": "it did not happen, so it may be begun again",
    "done": "it happened, and does not happen again",
}
DOUBTS = {
    "lease_ran_out": "Its holder was not heard of before its time was over: it may have been killed before the effect or after.",
    "holder_unsure": "Its holder said itself that it cannot tell whether the effect happened.",
    "restored": "The memory was restored from a backup while it was under way: how it ended may be what was lost.",
}


def _list(visit: Visit) -> Shown:
    state = choice(visit, "state", "How it stands", STATES)
    listing = visit.memory.actions.list(
        cast("ActionFilter", state.taken), page_size=PAGE_SIZE, before=visit.asked("before") or None
    )
    values = {"page": next(listing.pages()), "state": state, "before": visit.asked("before"), "doubts": DOUBTS}
    return Shown(template="actions.html", values=values)


def _one(visit: Visit) -> Shown:
    action = visit.memory.actions.get(visit.part("id"))
    values = {
        "action": action,
        "result": json.dumps(action.result, ensure_ascii=False, indent=2),
        "state": STATES[action.state],
        "means": MEANS[action.state],
        "doubt": DOUBTS.get(action.doubt or ""),
        "tried": visit.path.rpartition("/")[2] if visit.refusal else "",
        "typed": {"rationale": visit.given("rationale"), "result": visit.given("result")},
        "wrong": visit.broken_rules("rationale", "result"),
    }
    return Shown(template="action.html", values=values, asks_again=action.state == "in_doubt")


def _happened(visit: Visit) -> Sent:
    return _reconciled(visit, happened=True, result=_result(visit.given("result")))


def _did_not_happen(visit: Visit) -> Sent:
    return _reconciled(visit, happened=False, result=None)


def _reconciled(visit: Visit, *, happened: bool, result: object) -> Sent:
    action = visit.memory.actions.reconcile(
        visit.part("id"), happened=happened, rationale=visit.given("rationale"), result=result, idempotency_key=visit.key
    )
    return Sent(path=f"/actions/{action.id}", said="action-happened" if happened else "action-did-not-happen")


def _result(given: str) -> object:
    """Returns the JSON value that was typed, None for nothing; raises InvalidRequest for what is no JSON."""
    if not given:
        return None
    try:
        return json.loads(given)
    except json.JSONDecodeError as error:
        raise broken("result", f"is no JSON: {error.msg.lower()}, in line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):  # a number of too many digits, or lists within lists without end
        raise broken("result", "is more than a JSON value may hold") from None


def _reconciling(verb: str, happened: bool) -> Page:
    answer = _happened if happened else _did_not_happen
    return Page(path=f"/actions/{{id}}/{verb}", method="POST", role=Role.CURATOR, answer=answer, back=_one)


PAGES = (
    Page(path="/actions", title="Actions", answer=_list, public=True),
    Page(path="/actions/{id}", answer=_one, public=True),
    _reconciling("happened", True),
    _reconciling("did-not-happen", False),
)
SAID = {
    "action-happened": "The doubt is over: it is done, and nobody carries it out again.",
    "action-did-not-happen": "The doubt is over: it may be begun again.",
}
