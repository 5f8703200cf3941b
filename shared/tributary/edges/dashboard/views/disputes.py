"""Disputes and challenges: both sides beside each other, where each comes from, and how a curator ends it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from tributary.client.errors import broken
from tributary.contract.curation import ResolvedReply
from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.asked import whole_of
from tributary.edges.dashboard.telling.choices import choice
from tributary.edges.dashboard.telling.sides import alone, pairs_of
from tributary.edges.dashboard.visit import Visit

if TYPE_CHECKING:
    from tributary.client.curation_calls import DisputeState

PAGE_SIZE = 20
_SHORT = 160
_SORTS = {"dispute": "Disputes", "challenge": "Challenges"}
_STATES = {"open": "Open", "settled": "Ended", "any": "All"}


def _list(visit: Visit) -> Shown:
    sort = choice(visit, "sort", "Which sort", _SORTS)
    state = choice(visit, "state", "Which state", _STATES)
    curation = visit.memory.curation
    listing = curation.disputes if sort.taken == "dispute" else curation.challenges
    counts = visit.memory.stats()
    which = cast("DisputeState", state.taken)
    page = next(listing(which, page_size=PAGE_SIZE, before=visit.asked("before") or None).pages())
    values = {
        "page": page,
        "sort": sort,
        "state": state,
        "before": visit.asked("before"),
        "open": {"dispute": counts.open_disputes, "challenge": counts.open_challenges},
    }
    return Shown(template="disputes.html", values=values)


def _one(visit: Visit) -> Shown:
    # Read before the dispute itself: whatever comes in between the two is then decided about by nobody.
    seen = next(visit.memory.curation.disputes("any", page_size=1).pages()).tick
    dispute = visit.memory.curation.dispute(visit.part("id"))
    pairs = pairs_of(dispute)
    values = {
        "dispute": dispute,
        "pairs": pairs,
        "contender": alone(dispute.contender),
        "names": {one.id: _cut(one.text) for one in dispute.about},
        "giving_way": [one for one in dispute.about if one.status == "active"],
        "seen": seen,
        "tried": visit.path.rpartition("/")[2] if visit.refusal else "",
        "typed": visit.given("rationale"),
    }
    return Shown(template="dispute.html", values=values, asks_again=not dispute.ending)


def _cut(text: str) -> str | None:
    """Returns enough of a text to tell it by, None for one that is gone."""
    return textwrap.shorten(text, _SHORT, placeholder=" …") or None


def _accept(visit: Visit) -> Sent:
    curation = visit.memory.curation
    return _ended(
        curation.accept(visit.part("id"), rationale=_rationale(visit), seen_tick=_seen(visit), idempotency_key=visit.key)
    )


def _reject(visit: Visit) -> Sent:
    rationale = _rationale(visit)
    if rationale is None:
        raise broken("rationale", "is needed: whoever claims the same again is pointed to it")
    curation = visit.memory.curation
    return _ended(curation.reject(visit.part("id"), rationale, seen_tick=_seen(visit), idempotency_key=visit.key))


def _both_stand(visit: Visit) -> Sent:
    curation = visit.memory.curation
    return _ended(
        curation.both_stand(visit.part("id"), rationale=_rationale(visit), seen_tick=_seen(visit), idempotency_key=visit.key)
    )


def _ended(reply: ResolvedReply) -> Sent:
    if reply.dispute is not None:
        return Sent(path=f"/disputes/{reply.dispute}", said="dispute-led-on")
    return Sent(path=f"/disputes/{reply.resolved}", said=f"dispute-{reply.ending.replace('_', '-')}")


def _rationale(visit: Visit) -> str | None:
    return visit.given("rationale") or None


def _seen(visit: Visit) -> int:
    return whole_of(visit.given("seen"), "seen", "must be the tick of the page that the form is on")


def _ending(verb: str, answer: Callable[[Visit], Sent]) -> Page:
    return Page(path=f"/disputes/{{id}}/{verb}", method="POST", role=Role.CURATOR, answer=answer, back=_one)


PAGES = (
    Page(path="/disputes", title="Disputes", answer=_list, public=True),
    Page(path="/disputes/{id}", answer=_one, public=True),
    _ending("accept", _accept),
    _ending("reject", _reject),
    _ending("both-stand", _both_stand),
)
SAID = {
    "dispute-accepted": "It ended as accepted: how each lesson stands now is below.",
    "dispute-rejected": "It ended as rejected: the contender is retired, and the same claim is pointed here when it comes again.",
    "dispute-both-stand": "It ended with both standing: they are believed side by side, and the verdict is queued for review.",
    "dispute-led-on": "That one ended, but what it was about contradicts other lessons, too: this dispute came of it.",
}
