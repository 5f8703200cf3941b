"""The audit: who did or was refused what, and when, besides what agents learn."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.visit import Visit

PAGE_SIZE = 50
OUTCOMES = {
    "done": "done",
    "forbidden": "refused: its role does not allow it",
    "unauthenticated": "refused: the token is revoked or expired",
    "in_grace": "not done: it was learned just now",
    "kept_until": "not done: its writer asked to keep it for longer",
}
"""What became of it, by the code of the entry."""
ACTIONS = {
    "dashboard.sign_in": "sign in here",
    "dashboard.sign_out": "sign out here",
    "create_agent": "make an agent",
    "new_token": "make a token",
    "set_role": "change a role",
    "set_policy": "change the policy",
    "evict": "evict a lesson",
    "agents": "list the agents",
    "agent": "look at an agent",
    "tokens": "list an agent's tokens",
    "audit": "look at the audit",
    "quarantine": "look at the quarantine",
    "decisions": "look at decisions",
    "reviews": "look at the review queue",
    "costs": "look at the costs",
}
_PLACES = {"les": "/lessons/", "dis": "/disputes/", "dec": "/decisions/", "act": "/actions/", "agt": "/agents/"}
_ID = re.compile(rf"\b((?:{'|'.join(_PLACES)})_[0-9a-f]{{32}})\b")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a detail: words, or an id with the page that it leads to."""

    text: str
    path: str | None


def _list(visit: Visit) -> Shown:
    page = next(visit.memory.curation.audit(page_size=PAGE_SIZE, before=visit.asked("before") or None).pages())
    recorded = [
        {
            "at": one.at,
            # What nobody is known for: the gardener's own doing, or the operator's.
            "agent": "the gardener" if one.agent is None and one.action == "evict" else one.agent,
            "action": ACTIONS.get(one.action, one.action.replace("_", " ")),
            "done": one.code == "done",
            "outcome": OUTCOMES.get(one.code, f"refused: {one.code.replace('_', ' ')}"),
            "detail": _pieces(one.detail),
        }
        for one in page.items
    ]
    return Shown(template="audit.html", values={"recorded": recorded, "next": page.next, "before": visit.asked("before")})


def _pieces(detail: str) -> tuple[Piece, ...]:
    parts = _ID.split(detail)
    return tuple(
        Piece(text=text, path=_PLACES[text[:3]] + text if number % 2 else None) for number, text in enumerate(parts) if text
    )


PAGES = (Page(path="/audit", title="Audit", answer=_list, role=Role.CURATOR),)
