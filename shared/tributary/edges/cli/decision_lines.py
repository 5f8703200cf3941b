"""A decision on paper: what was said, what it was compared with, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tributary.edges.cli.dispute_lines import verdict_lines
from tributary.edges.cli.lesson_lines import field, lesson_fields
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import DecisionDetail


def decision_lines(found: DecisionDetail) -> list[str]:
    """Returns the lines."""
    one = found.decision
    for_whom = f" for {shown(one.writer)}" if one.actor != one.writer else ""
    lines = [
        f"Decision {shown(one.id)} of tick {one.tick} ({moment(one.at)}): {one.outcome}",
        *field("why", one.reason),
        *field("by", f"{shown(one.actor)}{for_whom}"),
        *field("screen", f"{one.screen}: {', '.join(one.screening) or 'found nothing'}"),
        "",
        f"Lesson: {shown(found.lesson.id)} ({found.lesson.status})",
    ]
    if one.draft is None:
        lines += lesson_fields(
            found.lesson, says=found.lesson.text, when=found.lesson.situation, about=found.lesson.subject or ""
        )
    else:
        lines += [*field("said", one.draft.text), *field("when", one.draft.situation)]
    lines += ["", "Verdicts:", *verdict_lines(one.verdicts), "", *_candidates(found)]
    cited = [f"  {shown(each.id)} of tick {each.tick}: {each.coverage}" for each in one.receipts]
    return [*lines, *(["", "Receipts that the writer cited:", *cited] if cited else [])]


def _candidates(found: DecisionDetail) -> Iterator[str]:
    if not found.candidates:
        yield "There was nothing to compare it with."
        return
    yield f"Compared with, as of tick {found.decision.judged_tick}:"
    now = {one.id: one for one in found.candidates}
    for then in found.decision.candidates:
        near = "" if then.similarity is None else f", similarity {then.similarity:.2f}"
        yield f"  {shown(then.lesson)} ({then.status} then{near})"
        if then.lesson in now:
            yield from field("says", now[then.lesson].text or "(erased)")
