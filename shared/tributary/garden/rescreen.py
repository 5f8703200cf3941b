"""Rule 2: lessons that were held back only because no screen could be reached are screened again."""

from __future__ import annotations

from dataclasses import replace
from typing import cast
from uuid import UUID

from tributary.access import SERVER_KEY, request_digest
from tributary.core.agent import Principal
from tributary.core.decision import Outcome, ScreenFinding, Unscreened
from tributary.core.errors import TributaryError, Unavailable, WrongStanding
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Lesson, Status
from tributary.core.spending import account
from tributary.garden.tries import Place, takes_turn, too_often
from tributary.garden.visit import Tally, Visit
from tributary.learn import Deadline, Stored, draft_of
from tributary.spaces import MISSES
from tributary.store import rows, statement
from tributary.telemetry import Event, log

PAGE = 20


def rescreen(visit: Visit, tally: Tally) -> None:
    """What is clean is learned as its author's; what is caught stays held back, by a decision that says for what.

    Those come first that were tried longest ago. A model that is away is waited for as long as it takes; one that refuses a
    lesson, or gives nothing of use or nothing in time, is not asked for ever: the lesson stays held back, for that reason.
    """
    place = Place()
    waiting = visit.survey.unscreened
    missed = 0
    while waiting > 0 and (page := _page(visit, place)):
        for held in page:
            if visit.budget.spent or missed >= MISSES:
                tally.leave(waiting, Unscreened.UNAVAILABLE if missed >= MISSES else None)
                return
            replied = _tried(visit, tally, held)
            if replied is not None:
                missed = 0 if replied else missed + 1
            account().decided(None)  # what led to no decision is none of the next one's
            waiting -= 1
            place = Place.of(held)


def _page(visit: Visit, place: Place) -> list[rows.Document]:
    parameters = {**place.parameters(visit), "limit": PAGE}
    return cast(list[rows.Document], visit.tools.database.value(statement("garden", "unscreened"), parameters))


def _tried(visit: Visit, tally: Tally, held: rows.Document) -> bool | None:
    """Screens one lesson and does what follows; tells whether the screen replied, None when that says nothing of it."""
    decision_id = UUID(held["decision_id"])
    if not takes_turn(visit, decision_id):
        return None
    lesson = rows.lesson(held["lesson"])
    finding = visit.tools.learner.decider.screened(draft_of(lesson), Deadline.after(visit.budget.remaining_s()))
    why = finding.unscreened
    try:
        if why is None:
            kind = _applied(visit, held, lesson, finding)
        elif (why.replied or why is Unscreened.TIMED_OUT) and too_often(visit, decision_id, late=not why.replied):
            kind = _applied(visit, held, lesson, replace(finding, reasons=(why.value,)))
            kind = "given_up" if kind == "caught" else kind
        else:
            kind = None
            tally.leave(1, why)
    except Unavailable:
        raise
    except WrongStanding:
        return None  # a curator or another gardener was faster
    except TributaryError as error:
        code, shown = error.code, show(Prefix.LESSON, lesson.lesson_id)
        log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule="rescreen", code=code, lesson=shown)
        tally.leave(1, code)
        return None
    if kind is not None:
        tally.did(kind)
    return why is None or why.replied


def _applied(visit: Visit, held: rows.Document, lesson: Lesson, finding: ScreenFinding) -> str | None:
    """Returns what became of one lesson, None when another did it before us."""
    if visit.dry_run:
        return "caught" if finding.quarantined else "released"
    author = Principal(tribe_id=visit.tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=rows.role(held["role"]))
    decision = UUID(held["decision_id"]).hex
    document = visit.tools.learner.reconsider(
        author,
        lesson,
        Stored(stands=Status.QUARANTINED),
        key=f"{SERVER_KEY}rescreen:{decision}",
        digest=request_digest("rescreen", {"decision": decision}),
        deadline_s=visit.budget.remaining_s(),
        finding=finding,
    )
    if document["replayed"]:
        return None
    visit.tools.learner.telling.after(visit.tribe_id, pended=document["pended"])
    return "caught" if document["reply"]["outcome"] == Outcome.QUARANTINED else "released"
