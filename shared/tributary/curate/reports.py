"""A report that a decision was wrong, as a case for the review queue."""

from __future__ import annotations

from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.curation import Mistake, Signal
from tributary.core.errors import InvalidRequest, NotFound, WrongStanding
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Lesson, Status
from tributary.core.reviewing import Case, pair_case, screened_case, side_of
from tributary.store import rows


def case_of(principal: Principal, document: rows.Document, mistake: Mistake, candidate: UUID | None, note: str | None) -> Case:
    """Returns the case that a report makes; `document` is the schema's `decision_v1`.

    Raises NotFound for a decision about a lesson that is held back from `principal`, InvalidRequest and WrongStanding when
    the decision says nothing that could be that mistake.
    """
    lesson = rows.lesson(document["lesson"])
    mine = lesson.agent_id == principal.agent_id
    if lesson.status is Status.QUARANTINED and principal.role is not Role.CURATOR and not mine:
        raise NotFound
    if mistake.verdict is None:
        return _screening(lesson, document["decision"], mistake, note)
    decision = document["decision"]
    old = _candidate(document, candidate)
    verdict = next((one for one in decision["verdicts"] if one["lesson_id"] == str(old.lesson_id)), None)
    if verdict is None:
        raise InvalidRequest("lesson", "was read for this decision, but no verdict on it was asked for")
    if verdict["verdict"] == mistake.verdict:
        raise InvalidRequest("should_be", f"is what the verdict was: {mistake}")
    draft = decision["draft"]
    said = side_of(lesson) if draft is None else {name: draft.get(name) for name in side_of(lesson)}
    if not said["text"] or not old.text:
        raise WrongStanding("what the decision was about is erased")
    return pair_case(
        Signal.REPORTED,
        old=old,
        new=said,
        new_lesson=lesson.lesson_id,
        found=verdict["verdict"],
        expected=mistake.value,
        note=note,
    )


def _screening(lesson: Lesson, decision: rows.Document, mistake: Mistake, note: str | None) -> Case:
    if lesson.status is Status.ERASED:
        raise WrongStanding("what the decision was about is erased")
    held = bool(decision["screening"]["reasons"])  # then, whatever became of the lesson since
    if held is (mistake is Mistake.HARMFUL):
        raise InvalidRequest("should_be", f"is what the screen found: {mistake}")
    return screened_case(Signal.REPORTED, lesson, held=held, note=note)


def _candidate(document: rows.Document, wanted: UUID | None) -> Lesson:
    lessons = [rows.lesson(one) for one in document["candidates"]]
    if wanted is None and len(lessons) == 1:
        return lessons[0]
    for lesson in lessons:
        if lesson.lesson_id == wanted:
            return lesson
    shown = ", ".join(show(Prefix.LESSON, one.lesson_id) for one in lessons) or "none"
    raise InvalidRequest("lesson", f"must be one of the lessons that the decision compared with: {shown}")
