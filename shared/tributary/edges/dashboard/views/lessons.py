"""What the tribe believes: a search with its receipt, or, without a question, the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast, get_args

from tributary.client.errors import InvalidRequest
from tributary.contract.limits import RECALL_LIMIT
from tributary.contract.models import Kind, Status
from tributary.edges.dashboard.page import Page, Shown
from tributary.edges.dashboard.problems import problem_of
from tributary.edges.dashboard.telling.asked import number_of, tags_of
from tributary.edges.dashboard.telling.explaining import explain
from tributary.edges.dashboard.visit import Visit

PAGE_SIZE = 25
LIMIT = 10
LIMITS = (5, LIMIT, 20, 50, RECALL_LIMIT)
KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the fields say, as they were typed."""

    query: str
    kinds: tuple[str, ...]
    subject: str
    tags: str
    author: str
    limit: str
    confidence: str
    stale: bool
    status: str

    @classmethod
    def of(cls, visit: Visit) -> Wanted:
        return cls(
            query=visit.asked("query"),
            kinds=tuple(one for one in visit.query.get("kind", ()) if one),
            subject=visit.asked("subject"),
            tags=visit.asked("tags"),
            author="" if visit.visitor.public else visit.asked("author"),
            limit=visit.asked("limit"),
            confidence=visit.asked("confidence"),
            stale=visit.asked("stale") == "yes",
            status=visit.asked("status"),
        )

    @property
    def narrows_search(self) -> bool:
        """Something besides the question leaves lessons out of a search."""
        return bool(self.kinds or self.subject or self.tags or self.author or self.confidence)

    @property
    def narrows_list(self) -> bool:
        """Something leaves lessons out of a list, which is of one kind or of all."""
        return bool(len(self.kinds) == 1 or self.subject or self.tags or self.author or self.status)


def _lessons(visit: Visit) -> Shown:
    wanted = Wanted.of(visit)
    status = HTTPStatus.OK
    try:
        found = _searched(visit, wanted) if wanted.query else _listed(visit, wanted)
    except InvalidRequest as error:
        # What was typed stays on the page, with what is wrong about it.
        problem = problem_of(error)
        found, status = {"broken": problem}, problem.status
    values = {"wanted": wanted, "kinds": KINDS, "limits": LIMITS, "statuses": _statuses(visit), **found}
    return Shown(template="lessons_found.html" if visit.fragment else "lessons.html", values=values, status=status)


def _searched(visit: Visit, wanted: Wanted) -> Mapping[str, object]:
    hits = visit.memory.recall(
        wanted.query,
        limit=int(number_of(wanted.limit, "limit", least=1, most=RECALL_LIMIT, default=LIMIT)),
        kinds=cast("tuple[Kind, ...]", wanted.kinds),
        agent=wanted.author or None,
        subject=wanted.subject or None,
        tags=tags_of(wanted.tags),
        min_confidence=number_of(wanted.confidence, "confidence", least=0, most=1, default=0.0),
        include_stale=wanted.stale,
    )
    return {"broken": None, "hits": list(hits), "told": explain(hits.receipt), "listed": None}


def _listed(visit: Visit, wanted: Wanted) -> Mapping[str, object]:
    before = visit.asked("before") or None
    page = next(
        visit.memory.pages(
            status=cast("Status | None", wanted.status or None),
            page_size=PAGE_SIZE,
            kind=cast("Kind", wanted.kinds[0]) if len(wanted.kinds) == 1 else None,
            subject=wanted.subject or None,
            tags=tags_of(wanted.tags),
            author=wanted.author or None,
            before=before,
        )
    )
    asked = [(name, one) for name, given in visit.query.items() if name not in ("before", "said") for one in given if one]
    return {"broken": None, "hits": None, "told": explain(page.receipt), "listed": page, "before": before, "asked": asked}


def _statuses(visit: Visit) -> tuple[str, ...]:
    """What a list may be of: what is held back is for curators alone."""
    return tuple(one for one in STATUSES if one != "quarantined" or visit.visitor.may("curator"))


PAGES = (Page(path="/lessons", title="Lessons", answer=_lessons, public=True),)
