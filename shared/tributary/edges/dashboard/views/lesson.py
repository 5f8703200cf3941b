"""One lesson: what it says, how it stands and since when, how it came to that; and what may be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, cast

from tributary.client import LessonDetail, Timeline, ids
from tributary.client.errors import InvalidRequest, NotFound
from tributary.client.values import source_of
from tributary.contract.curation import CandidateReply, DecisionReply, RetireCause, Verdict, VerdictReply
from tributary.contract.models import How, LessonReply, Outcome
from tributary.core.agent import Role
from tributary.core.confidence import WITHERED_BELOW, half_life
from tributary.core.lesson import Kind
from tributary.edges.dashboard.page import Page, Sent, Shown
from tributary.edges.dashboard.telling.asked import moment_of, number_of
from tributary.edges.dashboard.telling.explaining import explain
from tributary.edges.dashboard.telling.lineage import draw
from tributary.edges.dashboard.telling.score import break_down
from tributary.edges.dashboard.visit import Visit

EVENTS = 25
DECISIONS = 10
LISTED = 50
"""So many lessons of the chain are listed on each side of this one."""
_WEIGHTY: tuple[Verdict, ...] = ("conflicts", "same", "unsure", "unrelated")
_RETIRABLE = ("active", "pending", "disputed", "quarantined")

HAPPENED = {
    "learned": "Learned: believed from here on",
    "pended": "Kept, to be judged",
    "disputed": "Disputed: a curator is to decide",
    "quarantined": "Held back by the screen",
    "reinforced": "Confirmed",
    "superseded": "Replaced",
    "retired": "Retired",
    "evicted": "Evicted: the tribe keeps no more",
    "erased": "Erased",
    "challenged": "Challenged: it may contradict another lesson",
    "cleared": "A challenge ended",
    "dispute_settled": "A dispute ended",
}
CAUSES = {
    "outdated": "it was true once",
    "wrong": "it was never true",
    "injection": "it was an attack",
    "expired": "the time for which it was said to hold was over",
    "withered": "nobody confirmed it for too long",
    "capacity": "the tribe keeps no more lessons",
    "contradicted": "it contradicts what came to be believed",
    "dispute_accepted": "a curator found the newer lesson right",
    "same_as_known": "another lesson says the same",
    "same_as_believed": "a believed lesson says the same",
    "judged_again": "it was judged again",
}
ENDINGS = {
    "accepted": "the newer lesson was found right",
    "rejected": "the newer lesson was found wrong",
    "both_stand": "both were found to stand",
    "moot": "one side went away by itself",
}


def _lesson(visit: Visit) -> Shown:
    as_of, before = moment_of(visit.asked("as_of")), _before(visit)
    missing = Shown(
        template="lesson_missing.html", values={"as_of": visit.asked("as_of")}, status=HTTPStatus.NOT_FOUND, asks_again=False
    )
    try:
        which = ids.lesson_id(visit.part("id"))
    except InvalidRequest:
        return missing
    try:
        detail = visit.memory.lesson(which, as_of=as_of)
        timeline = visit.memory.timeline(which, page_size=EVENTS, before=before)
    except NotFound:
        return missing
    now, may = timeline.lesson, _may(visit, timeline.lesson, past=as_of is not None)
    failed = visit.path.rpartition("/")[2] if visit.refusal else ""
    held = _held(timeline if before is None or now.status != "retired" else visit.memory.timeline(which, page_size=EVENTS))
    values: dict[str, object] = {
        "lesson": detail.lesson,
        "now": now,
        "moment": detail.receipt.searched[0],
        "as_of": visit.asked("as_of"),
        "challenges": detail.challenges,
        "erased": now.status == "erased",
        "held": held,
        "standing": _standing(detail.lesson, visit.at if as_of is None else detail.receipt.searched[0].at),
        "timeline": timeline,
        "before": visit.asked("before"),
        "words": {"happened": HAPPENED, "causes": CAUSES, "endings": ENDINGS},
        "open_disputes": _open_disputes(timeline) if now.status == "disputed" else (),
        "picture": draw(timeline, held=held),
        "chain": _chain(timeline),
        "decisions": _decisions(visit, which),
        "compared": _compared,
        "own": not visit.visitor.public and now.author == visit.visitor.name,
        "may": may,
        "failed": failed,
        "given": {name: visit.given(name) for name in visit.form},
        **_scored(visit, detail, as_of),
    }
    return Shown(template="lesson.html", values=values, asks_again=may.get(failed, False))


def _before(visit: Visit) -> int | None:
    text = visit.asked("before")
    return int(number_of(text, "before", least=1, most=1e18, default=0)) if text else None


def _held(timeline: Timeline) -> bool:
    """Tells whether a screen holds it back, or a curator retired it as an injection: nobody should follow what it says.

    The timeline's page must be that of its last events.
    """
    retired = [one for one in timeline.events if one.event == "retired"]
    return timeline.lesson.status == "quarantined" or bool(
        timeline.lesson.status == "retired" and retired and retired[-1].cause == "injection"
    )


def _standing(lesson: LessonReply, at: datetime) -> str | None:
    """Returns what time alone makes of a lesson that is stored as believed; None when nothing."""
    if lesson.status != "active":
        return None
    if lesson.valid_until is not None and lesson.valid_until <= at:
        return "The time for which it was said to hold is over: recall leaves it out."
    if lesson.valid_from is not None and at < lesson.valid_from:
        return "It is said to hold from a later time on: until then recall leaves it out."
    if lesson.confidence < WITHERED_BELOW:
        days = half_life(Kind(lesson.kind)).days
        return f"Little is left of its confidence: recall leaves it out once nobody has confirmed it for {days} days."
    return None


def _open_disputes(timeline: Timeline) -> tuple[str, ...]:
    """Returns the disputes that the lesson waits for: those of its last event of that kind."""
    opened = [one for one in timeline.events if one.event == "disputed"]
    return tuple(opened[-1].disputes) if opened else ()


def _chain(timeline: Timeline) -> Mapping[str, Any]:
    before, after = timeline.predecessors, timeline.successors
    return {
        "before": before.lessons[-LISTED:],
        "after": after.lessons[:LISTED],
        "more_before": before.more or len(before.lessons) > LISTED,
        "more_after": after.more or len(after.lessons) > LISTED,
    }


def _decisions(visit: Visit, which: str) -> tuple[DecisionReply, ...] | None:
    """Returns the decisions that made it what it is, newest first; None for whoever may not look at them."""
    if not visit.visitor.may(Role.CURATOR):
        return None
    return tuple(next(visit.memory.curation.decisions(which, page_size=DECISIONS).pages()).items)


def _compared(decision: DecisionReply) -> list[tuple[CandidateReply, VerdictReply | None]]:
    """Returns the candidates with their verdicts: first those that decided, then the nearest."""
    verdicts = {one.lesson: one for one in decision.verdicts}
    pairs = [(one, verdicts.get(one.lesson)) for one in decision.candidates]
    return sorted(
        pairs, key=lambda pair: (_WEIGHTY.index(pair[1].verdict) if pair[1] else len(_WEIGHTY), -(pair[0].similarity or -1))
    )


def _scored(visit: Visit, detail: LessonDetail, as_of: int | datetime | None) -> Mapping[str, object]:
    """Asks the question once more, of such lessons only as this is one: what a hit scores does not depend on the others."""
    query = visit.asked("query") if not visit.asked("before") else ""
    if not query or detail.lesson.status != "active":
        return {"query": query, "hit": None, "told": None, "breakdown": None}
    lesson = detail.lesson
    hits = visit.memory.recall(
        query, limit=100, kinds=[lesson.kind], subject=lesson.subject, tags=lesson.tags, include_stale=True, as_of=as_of
    )
    hit = next((one for one in hits if one.id == lesson.id), None)
    version = hits.receipt.ranking
    breakdown = None if hit is None else break_down(hit.terms, version=version, score=hit.score)
    return {"query": query, "hit": hit, "told": explain(hits.receipt), "breakdown": breakdown}


def _may(visit: Visit, now: LessonReply, *, past: bool) -> Mapping[str, bool]:
    """Returns what the visitor may do about the lesson. Nothing while it looks at the past."""
    visitor = visit.visitor
    own = now.author == visitor.name
    writes, curates = visitor.may(Role.WRITER) and not past, visitor.may(Role.CURATOR) and not past
    return {
        "confirm": writes and now.status == "active",
        "contest": writes and now.status == "active",
        "retire": writes and now.status in _RETIRABLE and (curates or (own and now.status != "quarantined")),
        "erase": curates and now.status != "erased",
    }


def _confirm(visit: Visit) -> Sent:
    reply = visit.memory.reinforce(visit.part("id"), idempotency_key=visit.key)
    return Sent(
        path=f"/lessons/{reply.lesson.id}",
        said="lesson-confirmed" if reply.outcome == "reinforced" else "lesson-counted",
    )


def _contest(visit: Visit) -> Sent:
    reply = visit.memory.contest(
        visit.part("id"),
        visit.given("text"),
        source=source_of(cast(How, visit.given("how")), visit.given("ref") or None),
        situation=visit.given("situation") or None,
        rationale=visit.given("rationale") or None,
        confidence=number_of(visit.given("confidence"), "confidence", least=0, most=1, default=0.7),
        idempotency_key=visit.key,
    )
    about = visit.part("id") if reply.lesson is None else reply.lesson.id
    return Sent(path=f"/lessons/{about}", said=f"contest-{reply.outcome}")


def _retire(visit: Visit) -> Sent:
    reply = visit.memory.retire(visit.part("id"), cast(RetireCause, visit.given("cause")), idempotency_key=visit.key)
    return Sent(path=f"/lessons/{reply.lesson.id}", said="lesson-retired")


def _erase(visit: Visit) -> Sent:
    reply = visit.memory.curation.erase(visit.part("id"), idempotency_key=visit.key)
    return Sent(path=f"/lessons/{reply.lesson.id}", said="lesson-erased")


def _form(name: str, answer: Any, role: Role) -> Page:
    return Page(path=f"/lessons/{{id}}/{name}", method="POST", role=role, answer=answer, back=_lesson)


PAGES = (
    Page(path="/lessons/{id}", answer=_lesson, public=True),
    _form("confirm", _confirm, Role.WRITER),
    _form("contest", _contest, Role.WRITER),
    _form("retire", _retire, Role.WRITER),
    _form("erase", _erase, Role.CURATOR),
)
_CONTESTED: Mapping[Outcome, str] = {
    "superseded": "This lesson took the place of the one that it contests.",
    "disputed": "Nothing changed yet: the two contradict each other, and a curator decides.",
    "quarantined": "The screen held this lesson back. A curator looks at it; until then nobody sees it but you.",
    "pending": "It is kept, and judged soon. Until then the other one is believed.",
    "reinforced": "This lesson says the same already: your word counts for it.",
    "unchanged": "This was said before. Nothing changed.",
    "learned": "This lesson is believed from now on.",
}
SAID = {
    "lesson-confirmed": "Your confirmation counts.",
    "lesson-counted": "Your word counted for it already. Nothing changed.",
    "lesson-retired": "It is not believed any more.",
    "lesson-erased": "What it said is gone, here and in every other lesson of the very same words.",
    **{f"contest-{outcome}": words for outcome, words in _CONTESTED.items()},
}
