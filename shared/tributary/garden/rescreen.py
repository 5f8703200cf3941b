"""Rule 2: lessons that were held back only because no screen could be reached are screened again."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from tributary.access import SERVER_KEY, request_digest
from tributary.core.agent import Principal
from tributary.core.decision import SCREEN_UNAVAILABLE, Outcome
from tributary.core.errors import TributaryError, Unavailable, WrongStanding
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Status
from tributary.core.spending import account
from tributary.garden.visit import Tally, Visit
from tributary.learn import Deadline, Stored, draft_of
from tributary.spaces import MISSES
from tributary.store import rows, statement
from tributary.telemetry import Event, log

PAGE = 20


def rescreen(visit: Visit, tally: Tally) -> None:
    """What is clean is learned as its author's; what is caught stays held back, by a decision that says for what."""
    after: UUID | None = None
    waiting = visit.survey.unscreened
    missed = 0
    while waiting > 0 and (page := _page(visit, after)):
        for held in page:
            if visit.budget.spent or missed >= MISSES:
                tally.leave(waiting, SCREEN_UNAVAILABLE if missed >= MISSES else None)
                return
            try:
                kind = _screened(visit, held)
            except Unavailable:
                raise
            except WrongStanding:
                kind = ""  # a curator or another gardener was faster
            except TributaryError as error:
                lesson = show(Prefix.LESSON, UUID(held["lesson"]["lesson_id"]))
                log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule="rescreen", code=error.code, lesson=lesson)
                tally.leave(1, error.code)
                kind = None
            else:
                missed = missed + 1 if kind is None else 0
                if kind is None:
                    tally.leave(1, SCREEN_UNAVAILABLE)
            account().decided(None)  # what led to no decision is none of the next one's
            if kind:
                tally.did(kind)
            waiting -= 1
            after = UUID(held["decision_id"])


def _page(visit: Visit, after: UUID | None) -> list[rows.Document]:
    parameters = {"tribe_id": visit.tribe_id, "after": after, "limit": PAGE}
    return cast(list[rows.Document], visit.tools.database.value(statement("garden", "unscreened"), parameters))


def _screened(visit: Visit, held: rows.Document) -> str | None:
    """Returns what became of one lesson, "" when another did it before us, and None when the screen is still away."""
    learner = visit.tools.learner
    lesson = rows.lesson(held["lesson"])
    finding = learner.decider.screened(draft_of(lesson), Deadline.after(visit.budget.remaining_s()))
    if SCREEN_UNAVAILABLE in finding.reasons:
        return None
    if visit.dry_run:
        return "caught" if finding.quarantined else "released"
    author = Principal(tribe_id=visit.tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=rows.role(held["role"]))
    decision = UUID(held["decision_id"]).hex
    document = learner.reconsider(
        author,
        lesson,
        Stored(stands=Status.QUARANTINED),
        key=f"{SERVER_KEY}rescreen:{decision}",
        digest=request_digest("rescreen", {"decision": decision}),
        deadline_s=visit.budget.remaining_s(),
        finding=finding,
    )
    if document["replayed"]:
        return ""
    return "caught" if document["reply"]["outcome"] == Outcome.QUARANTINED else "released"
