"""Agents and their tokens: who may use the memory, and as what. A secret is on the page that made it, and on no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tributary.client.errors import broken
from tributary.contract.agents import AgentReply, NewTokenReply, TokenReply
from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.asked import whole_of
from tributary.edges.dashboard.visit import Visit

if TYPE_CHECKING:
    from tributary.contract.route import Role as RoleName

PAGE_SIZE = 50
DAYS = 365
SOON_DAYS = 14
"""A token that ends within so many days is pointed out."""
_MOST_DIGITS = 6
FIELDS = ("name", "role", "days", "sure")
ROLES = {
    "reader": "looks: recalls, lists, and asks how things stood",
    "writer": "learns as well, and carries out actions",
    "curator": "decides as well: disputes, quarantine, agents and tokens",
}


def _list(visit: Visit) -> Shown:
    page = next(visit.memory.curation.agents(page_size=PAGE_SIZE, before=visit.asked("before") or None).pages())
    values = {
        "serving": [one for one in page.items if one.revoked_at is None],
        "revoked": [one for one in page.items if one.revoked_at is not None],
        "next": page.next,
        "before": visit.asked("before"),
        "roles": ROLES,
        "typed": {
            "name": visit.given("name"),
            "role": visit.given("role", "writer"),
            "days": visit.given("days", str(DAYS)),
        },
        "wrong": visit.broken_rules(*FIELDS),
    }
    return Shown(template="agents.html", values=values)


def _create(visit: Visit) -> Shown:
    # The name is what a form that is sent again is known by: a tribe gives each name once.
    name, role = visit.given("name"), cast("RoleName", visit.given("role"))
    return _secret(visit.memory.curation.create_agent(name, role, days=_days(visit)), first=True)


def _one(visit: Visit) -> Shown:
    curation, which = visit.memory.curation, visit.part("id")
    page = next(curation.tokens(which, page_size=PAGE_SIZE, before=visit.asked("before") or None).pages())
    agent = curation.agent(which)
    standing = {one.id: _standing(one, visit) for one in page.items}
    good = [one for one in page.items if standing[one.id] in ("good", "ends soon")]
    values = {
        "agent": agent,
        "itself": agent.id == visit.visitor.agent,
        "good": good,
        "ended": [one for one in page.items if one not in good],
        "standing": standing,
        "all_known": page.next is None and not visit.asked("before"),
        "newest": page.items[0].id if page.items else "",
        "next": page.next,
        "before": visit.asked("before"),
        "roles": ROLES,
        "tried": visit.path if visit.refusal else "",
        "typed": {
            "days": visit.given("days", str(DAYS)),
            "others": visit.given("others"),
            "role": visit.given("role"),
        },
        "wrong": visit.broken_rules(*FIELDS),
    }
    return Shown(template="agent.html", values=values)


def _new_token(visit: Visit) -> Shown:
    others = visit.given("others") == "end"
    if others:
        _look_twice(visit)
    # No secret is kept that could be given again: a form that comes twice is told from the token that it was opened with.
    made = visit.memory.curation.new_token(
        visit.part("id"), days=_days(visit), revoke_others=others, newest=visit.given("newest") or None
    )
    return _secret(made, first=False, ended_others=others)


def _set_role(visit: Visit) -> Sent:
    role = visit.given("role")
    if role != Role.CURATOR:
        _look_twice(visit)
    changed = visit.memory.curation.set_role(visit.part("id"), cast("RoleName", role))
    if changed.id == visit.visitor.agent and changed.role != "curator":
        return Sent(path="/status", said="agent-no-curator")
    return Sent(path=f"/agents/{changed.id}", said="agent-role")


def _revoke(visit: Visit) -> Sent:
    _look_twice(visit)
    ended: AgentReply = visit.memory.curation.revoke_agent(visit.part("id"))
    return Sent(path=f"/agents/{ended.id}", said="agent-revoked")


def _revoke_token(visit: Visit) -> Sent:
    _look_twice(visit)
    ended: TokenReply = visit.memory.curation.revoke_token(visit.part("token"))
    return Sent(path=f"/agents/{ended.agent}", said="token-revoked")


def _secret(made: NewTokenReply, *, first: bool, ended_others: bool = False) -> Shown:
    """The one page that has the secret. It is the answer to the form itself: no address leads to it."""
    return Shown(template="agent_token.html", values={"made": made, "first": first, "ended_others": ended_others})


def _look_twice(visit: Visit) -> None:
    """Whoever takes something from itself says that it knows; raises InvalidRequest."""
    if visit.part("id").lower() == visit.visitor.agent and visit.given("sure") != "yes":
        raise broken("sure", "must be ticked: this is the agent that you are signed in as")


def _days(visit: Visit) -> int:
    return whole_of(visit.given("days"), "days", "must be a whole number of days", most_digits=_MOST_DIGITS)


def _standing(token: TokenReply, visit: Visit) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at <= visit.at:
        return "expired"
    return "ends soon" if (token.expires_at - visit.at).days < SOON_DAYS else "good"


PAGES = (
    Page(path="/agents", title="Agents", answer=_list, role=Role.CURATOR),
    Page(path="/agents", method="POST", answer=_create, role=Role.CURATOR, back=_list),
    Page(path="/agents/{id}", answer=_one, role=Role.CURATOR),
    Page(path="/agents/{id}/tokens", method="POST", answer=_new_token, role=Role.CURATOR, back=_one),
    Page(path="/agents/{id}/role", method="POST", answer=_set_role, role=Role.CURATOR, back=_one),
    Page(path="/agents/{id}/revoke", method="POST", answer=_revoke, role=Role.CURATOR, back=_one),
    Page(path="/agents/{id}/tokens/{token}/revoke", method="POST", answer=_revoke_token, role=Role.CURATOR, back=_one),
)
SAID = {
    "agent-role": "The agent has that role from its next request on.",
    "agent-no-curator": "You are no curator any more.",
    "agent-revoked": "The agent is revoked, with all its tokens. What it taught stays.",
    "token-revoked": "The token is revoked.",
}
