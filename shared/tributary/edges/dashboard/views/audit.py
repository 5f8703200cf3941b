"""The audit: who did or was refused what, and when, besides what agents learn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from tributary.contract.models import Outcome
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
    "dashboard.sign_in": "sign in to the dashboard",
    "dashboard.sign_out": "sign out of the dashboard",
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
_INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_TOLD_APART = re.compile(rf"\b((?:{'|'.join(_PLACES)})_[0-9a-f]{{32}}|{_INSTANT})\b")
_CAME_TO: Mapping[Outcome, str] = {
    "learned": "came to be believed",
    "superseded": "came to be believed, and took the place of what it contradicts",
    "reinforced": "confirmed another lesson that says the same",
    "unchanged": "had been said before",
    "disputed": "came to be disputed",
    "quarantined": "came to be held back",
    "pending": "is to be judged",
}
"""What became of the lesson that a curator's word was about, by the outcome that the entry ends with."""
_OUTCOME = re.compile(rf"\bcame to ({'|'.join(_CAME_TO)})\Z")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a detail: words, an id with the page that it leads to, or an instant."""

    text: str
    path: str | None = None
    at: datetime | None = None


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
            "detail": tuple(_pieces(one.detail)),
        }
        for one in page.items
    ]
    return Shown(template="audit.html", values={"recorded": recorded, "next": page.next, "before": visit.asked("before")})


def _pieces(detail: str) -> Iterator[Piece]:
    worded = _OUTCOME.sub(lambda found: _CAME_TO[cast("Outcome", found[1])], detail)
    for number, text in enumerate(_TOLD_APART.split(worded)):
        if number % 2 == 0 or text[:3] in _PLACES:
            yield Piece(text=text, path=_PLACES[text[:3]] + text if number % 2 else None)
        else:
            yield Piece(text=text, at=_instant(text))


def _instant(text: str) -> datetime | None:
    """Returns the instant that the text names; None where the calendar has no such one."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


PAGES = (Page(path="/audit", title="Audit", answer=_list, role=Role.CURATOR),)
