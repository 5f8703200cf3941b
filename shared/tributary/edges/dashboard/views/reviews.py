"""Review: cases from which the judge and the screen might learn, as candidates for golden sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tributary.contract.curation import ReviewReply
from tributary.core.agent import Role
from tributary.core.wording import Piece, compare
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.choices import choice
from tributary.edges.dashboard.telling.inert import Said, fields_of
from tributary.edges.dashboard.visit import Visit

if TYPE_CHECKING:
    from tributary.client.curation_calls import ReviewFilter

PAGE_SIZE = 10
_STATES = {"open": "Open", "accepted": "Accepted", "rejected": "Rejected", "any": "All"}
SIGNALS = {
    "reported": "Somebody reported the decision as wrong.",
    "both_stand": "A curator ended the dispute: the two do not contradict each other.",
    "injection": "A curator retired the lesson as an injection.",
    "released": "A curator released the lesson from quarantine.",
    "overruled": "The strong judge said otherwise than the cheap one.",
}
_FIELDS = ("text", "situation", "subject")


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """One field of a pair, in pieces."""

    name: str
    old: tuple[Piece, ...]
    new: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A case with its inputs: a pair, or the fields of a text that was screened."""

    review: ReviewReply
    pair: tuple[_Compared, ...]
    said: tuple[Said, ...]


def _list(visit: Visit) -> Shown:
    # A form that is refused leads back to the open ones: what it was about may be none of them any more.
    state = choice(visit, "state", "Which state", _STATES)
    before = "" if visit.refusal else visit.asked("before")
    wanted = cast("ReviewFilter", state.taken)
    page = next(visit.memory.curation.reviews(wanted, page_size=PAGE_SIZE, before=before or None).pages())
    tried = visit.parts.get("id", "")
    values = {
        "cases": [_case(one) for one in page.items],
        "page": page,
        "state": state,
        "before": before,
        "signals": SIGNALS,
        "tried": tried,
        "typed": visit.given("reason"),
    }
    return Shown(
        template="reviews.html", values=values, asks_again=tried in [one.id for one in page.items if one.state == "open"]
    )


def _reject(visit: Visit) -> Sent:
    visit.memory.curation.reject_review(visit.part("id"), reason=visit.given("reason") or None, idempotency_key=visit.key)
    return Sent(path="/reviews", said="review-rejected")


def _case(review: ReviewReply) -> _Case:
    old, new = review.inputs.get("old"), review.inputs.get("new")
    if isinstance(old, dict) and isinstance(new, dict):
        return _Case(review=review, pair=tuple(_pair(old, new)), said=())
    return _Case(review=review, pair=(), said=fields_of(review.inputs))


def _pair(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[_Compared]:
    for name in _FIELDS:
        ours, theirs = compare(str(old.get(name) or ""), str(new.get(name) or ""))
        if ours or theirs:
            yield _Compared(name=name, old=ours, new=theirs)


PAGES = (
    Page(path="/reviews", title="Review", answer=_list, role=Role.CURATOR),
    Page(path="/reviews/{id}/reject", method="POST", role=Role.CURATOR, answer=_reject, back=_list),
)
SAID = {"review-rejected": "The case is off the queue: it teaches nothing."}
