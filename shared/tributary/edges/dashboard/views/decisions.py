"""Decisions: how each lesson was decided about, and where that was a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast, get_args

from tributary.client.errors import broken
from tributary.contract.curation import CandidateReply, DecisionDetailReply, Mistake, VerdictReply
from tributary.contract.models import LessonReply
from tributary.core.agent import Role
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.inert import lesson_fields
from tributary.edges.dashboard.telling.reasons import explained
from tributary.edges.dashboard.visit import Visit

PAGE_SIZE = 30
VERDICTS = ("same", "conflicts", "unrelated")
"""What a verdict that was wrong may have had to be."""


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A lesson that a decision compared with: as it was then, as it stands now, and what the judge said of the two."""

    then: CandidateReply
    now: LessonReply | None
    verdict: VerdictReply | None


def _list(visit: Visit) -> Shown:
    lesson, before = visit.asked("lesson"), visit.asked("before")
    page = next(visit.memory.curation.decisions(lesson or None, page_size=PAGE_SIZE, before=before or None).pages())
    return Shown(template="decisions.html", values={"page": page, "lesson": lesson, "before": before})


def _one(visit: Visit) -> Shown:
    found = visit.memory.curation.decision(visit.part("id"))
    compared = list(_compared(found))
    values = {
        "decision": found.decision,
        "lesson": found.lesson,
        "fields": lesson_fields(found.lesson),
        "compared": compared,
        "judged": [one for one in compared if one.verdict],
        "reasons": explained(found.decision.screening),
        "verdicts": VERDICTS,
        "tried": visit.given("about") if visit.refusal else "",
        "typed": {name: visit.given(name) for name in ("note", "lesson", "should_be")},
    }
    return Shown(template="decision.html", values=values)


def _report(visit: Visit) -> Sent:
    should_be = visit.given("should_be")
    if should_be not in get_args(Mistake):
        raise broken("should_be", f"must be one of {', '.join(get_args(Mistake))}")
    reported = visit.memory.curation.report(
        visit.part("id"),
        cast("Mistake", should_be),
        lesson=visit.given("lesson") or None,
        note=visit.given("note") or None,
        idempotency_key=visit.key,
    )
    said = "decision-reported" if reported.queued else "decision-reported-before"
    return Sent(path=f"/decisions/{reported.decision}", said=said)


def _compared(found: DecisionDetailReply) -> Iterator[_Compared]:
    """Yields what the judge found something about first, the nearest before the farther."""
    now = {one.id: one for one in found.candidates}
    verdicts = {one.lesson: one for one in found.decision.verdicts}
    all_of_them = [
        _Compared(then=one, now=now.get(one.lesson), verdict=verdicts.get(one.lesson)) for one in found.decision.candidates
    ]
    yield from sorted(all_of_them, key=lambda one: (_weight(one.verdict), -(one.then.similarity or 0.0)))


def _weight(verdict: VerdictReply | None) -> int:
    return 2 if verdict is None else 1 if verdict.verdict == "unrelated" else 0


PAGES = (
    Page(path="/decisions", title="Decisions", answer=_list, role=Role.CURATOR),
    Page(path="/decisions/{id}", answer=_one, role=Role.CURATOR),
    Page(path="/decisions/{id}/report", method="POST", role=Role.CURATOR, answer=_report, back=_one),
)
SAID = {
    "decision-reported": "The mistake is in the review queue now. No belief was changed.",
    "decision-reported-before": "The same mistake was in the review queue already. Nothing new was written.",
}
