"""`tributary show`, `timeline`, `changes` and `diff`: one lesson, what happened to it, and what happens to all of them."""

from __future__ import annotations

from typing import Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson, time_or_tick
from tributary.edges.cli.paging import LARGEST_PAGE, Limit


def _of_a_lesson(given: str) -> str:
    """Returns the id; raises CommandFailed for one of a decision, which learn shows beside the lesson's."""
    if given.startswith("dec_"):
        raise CommandFailed("invalid_request", "this is the id of a decision, not of a lesson; see 'tributary curate decisions'")
    return given


LessonId = Annotated[str, typer.Argument(metavar="ID", help="The lesson's id, as recall shows it.", callback=_of_a_lesson)]


def show(
    context: typer.Context,
    lesson: LessonId,
    as_of: Annotated[str | None, typer.Option(metavar="TIME|TICK", help="As it stood then.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one lesson with all that is known of it, and what speaks against it.

    \b
    Example: tributary show les_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.lesson_lines import lesson_lines

    doors, output = session(context, as_json=as_json)
    when = time_or_tick(as_of, "--as-of")
    with doors.open_client() as memory:
        found = memory.lesson(lesson, as_of=when)
    document = {
        "lesson": found.lesson.model_dump(mode="json"),
        "challenges": [one.model_dump(mode="json") for one in found.challenges],
        "receipt": found.receipt.document(),
    }
    output.result(document, list(lesson_lines(found)))


def timeline(
    context: typer.Context,
    lesson: LessonId,
    limit: Limit = 100,
    before: Annotated[int | None, typer.Option(metavar="TICK", min=1, help="Only what happened before this tick.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a lesson, why, and which lessons came before and after it.

    \b
    Example: tributary timeline les_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.history_lines import timeline_document, timeline_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.timeline(lesson, page_size=limit, before=before)
    output.result(timeline_document(found), list(timeline_lines(found)))
    if found.next is not None and not as_json:
        output.remark(f"There are earlier events: --before {found.next} shows them.")


def changes(
    context: typer.Context,
    after: Annotated[int, typer.Option(metavar="TICK", min=0, help="Only what happened after this tick.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what happens from now on, until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what changed in the tribe, oldest first, every tick of it.

    With --follow, --json prints one JSON value a line, each a change.

    \b
    Example: tributary changes --after 418 --follow
    """
    from tributary.edges.cli.history_lines import ChangeVoice

    doors, output = session(context, as_json=as_json)
    voice = ChangeVoice(output)
    tick = after
    found: list[dict[str, object]] = []
    with doors.open_client() as memory:
        for page in memory.change_pages(after, follow=follow):
            tick = page.tick
            if as_json and not follow:
                found += (one.model_dump(mode="json") for one in page.changes)
            else:
                voice.say(page.changes)
    if as_json:
        output.json({"changes": found, "tick": tick})
    elif tick == after:
        output.remark(f"Nothing changed after tick {after}.")
    else:
        output.remark(f"This is all up to tick {tick}: --after {tick} goes on from there.")


def diff(
    context: typer.Context,
    since: Annotated[str, typer.Argument(help="The earlier moment: a tick, or a time with offset.")],
    until: Annotated[str | None, typer.Argument(help="The later moment; now, when left out.")] = None,
    limit: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Show at most so many; all without it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what was believed at one moment and not at another, newest change first.

    \b
    Example: tributary diff 418 2026-03-01T12:00:00Z
    """
    from tributary.edges.cli.diff_lines import DiffVoice

    doors, output = session(context, as_json=as_json)
    moments = time_or_tick(since, "SINCE") or 0, time_or_tick(until, "UNTIL")
    voice = DiffVoice(output)
    with doors.open_client() as memory:
        for page in memory.diff(*moments, page_size=min(limit or LARGEST_PAGE, LARGEST_PAGE)).pages():
            voice.say(page, most=limit)
            if voice.said == limit:
                break
    voice.end()
