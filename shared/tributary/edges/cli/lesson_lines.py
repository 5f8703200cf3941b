"""A lesson on paper: what it says, where that comes from, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tributary.edges.cli.found import HELD_BACK
from tributary.edges.cli.words import moment, shown, shown_block

if TYPE_CHECKING:
    from tributary.client import Lesson, LessonDetail


def lesson_lines(found: LessonDetail) -> Iterator[str]:
    """Yields all that is known of a lesson, and what is open against it."""
    lesson = found.lesson
    yield f"{shown(lesson.id)} ({lesson.status}, {lesson.kind.replace('_', ' ')})"
    yield from lesson_fields(lesson, says=lesson.text, when=lesson.situation, about=lesson.subject or "")
    if lesson.keep_until:
        yield from field("kept", f"at least until {moment(lesson.keep_until)}")
    if lesson.activated:
        until = f", until tick {lesson.deactivated.tick} ({moment(lesson.deactivated.at)})" if lesson.deactivated else ""
        yield from field("believed", f"from tick {lesson.activated.tick} ({moment(lesson.activated.at)}){until}")
    if lesson.superseded_by:
        yield from field("successor", lesson.superseded_by)
    for challenge in found.challenges:
        yield ""
        yield f"Challenged by {shown(challenge.lesson)}:"
        yield from field("says", challenge.text or "(not for you to see)")
        yield from field("dispute", challenge.id)
        yield f"  next, for a curator: tributary curate show {shown(challenge.id)}"


def lesson_fields(lesson: Lesson, *, says: str, when: str, about: str) -> Iterator[str]:
    """Yields a lesson field by field, with the words given for what it says, when that applies and what it is about."""
    mark = HELD_BACK if lesson.status == "quarantined" else ""
    yield from field("says", mark + (says or "(erased)"))
    if when:
        yield from field("when", when)
    if about:
        yield from field("about", about)
    for key, value in sorted(lesson.tags.items()):
        yield from field("tag", f"{key}={value}")
    if lesson.rationale is not None:
        yield from field("why", lesson.rationale)
    where = f", {lesson.source.ref}" if lesson.source.ref is not None else ""
    yield from field("source", f"{lesson.source.how}{where}; written by {lesson.author}")
    for one in lesson.evidence:
        yield from field("evidence", f"{one.type}: {one.ref}{f' ({one.note})' if one.note else ''}")
    counted = f"agents that confirm it: {lesson.confirmations}; what speaks against it: {lesson.contradictions}"
    yield from field("confidence", f"{lesson.confidence:.2f}, stated as {lesson.stated_confidence:.2f}; {counted}")
    if lesson.valid_from or lesson.valid_until:
        since = f"from {moment(lesson.valid_from)} " if lesson.valid_from else ""
        until = f"until {moment(lesson.valid_until)}" if lesson.valid_until else ""
        yield from field("holds", (since + until).strip())
    yield from field("learned", f"tick {lesson.learned.tick} ({moment(lesson.learned.at)})")


def field(name: str, text: str) -> Iterator[str]:
    """Yields a name and its text; further lines of the text stand behind a bar, so that none can pass for a line of ours."""
    first, *rest = shown_block(text).split("\n")
    yield f"  {name:<10} {first}"
    yield from (f"  {'':<8} | {line}" for line in rest)
