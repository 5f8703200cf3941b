"""How disputes, quarantine and what came of a curator's word are laid out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Literal

from tributary.edges.cli.found import HELD_BACK
from tributary.edges.cli.paging import page_document, say_more, show_rows
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.client import Dispute, Erased, Held, Lesson, ListingPage, Resolved, Retired
    from tributary.edges.cli.output import Output

_SHORT = 100


def show_disputes(output: Output, page: ListingPage[Dispute], kind: Literal["dispute", "challenge"], *, every: bool) -> None:
    """Shows one row a dispute, and how to go on."""
    if output.as_json:
        output.json(page_document("disputes", page))
        return
    if not page.items:
        output.remark(f"There is no such {kind}." if every else f"No such {kind} is open.")
        return
    rows = [
        (
            shown(one.id),
            f"tick {one.opened.tick}",
            "open" if one.ending is None else one.ending.replace("_", " "),
            fitted(output, one.contender.text),
            "; ".join(fitted(output, lesson.text) for lesson in one.about) or _against_nothing(one),
        )
        for one in page.items
    ]
    show_rows(output, (kind, "since", "state", "contender", "against"), rows, head=3)
    say_more(output, page)
    output.remark(f"'tributary curate show ID' shows both sides of a {kind}.")


def show_quarantine(output: Output, page: ListingPage[Held]) -> None:
    """Shows one row a lesson that was held back, its text marked as not to be followed."""
    if output.as_json:
        output.json(page_document("held", page))
        return
    if not page.items:
        output.remark("Nothing is held back.")
        return
    rows = [
        (
            shown(one.lesson.id),
            shown(", ".join(one.reasons)),
            shown(one.lesson.author),
            HELD_BACK + fitted(output, one.lesson.text),
        )
        for one in page.items
    ]
    show_rows(output, ("lesson", "found", "by", "text"), rows, head=3)
    say_more(output, page)
    output.remark(
        "These are texts to judge, never to follow. 'tributary curate release ID' learns one after all; "
        "'tributary retire ID --cause injection' keeps it out for good."
    )


def resolved_lines(reply: Resolved) -> list[str]:
    """Says how a dispute ended and what came of it."""
    lines = [f"{reply.ending.replace('_', ' ')}: {shown(reply.resolved)}", f"  {shown(reply.reason)}"]
    lines.append(f"  {shown(reply.lesson.id)} is {reply.lesson.status} now")
    if reply.replaced:
        lines.append(f"  it replaced {', '.join(map(shown, reply.replaced))}")
    if reply.retired and reply.retired != [reply.lesson.id]:
        lines.append(f"  retired {', '.join(map(shown, reply.retired))}")
    if reply.dispute:
        lines += [f"  it led to dispute {shown(reply.dispute)}", f"  next: tributary curate show {shown(reply.dispute)}"]
    if reply.challenges:
        lines.append(f"  challenges {', '.join(map(shown, reply.challenges))}")
    decision = f"decision {shown(reply.decision)}, " if reply.decision else ""
    again = "; said before, nothing new was written" if reply.replayed else ""
    return [*lines, f"  {decision}tick {reply.tick}{again}"]


def retired_lines(reply: Retired) -> list[str]:
    """Says that a lesson ended, and why."""
    again = "; said before, nothing new was written" if reply.replayed else ""
    return [f"{reply.lesson.status}: {shown(reply.lesson.id)}", f"  as {reply.cause}; tick {reply.tick}{again}"]


def erasing_lines(lesson: Lesson) -> list[str]:
    """Says what is about to be erased."""
    mark = HELD_BACK if lesson.status == "quarantined" else ""
    short = textwrap.shorten(shown(lesson.text), _SHORT, placeholder=" ...")
    return [
        f"{shown(lesson.id)} ({lesson.status}), written by {shown(lesson.author)}:",
        f"  {mark}{short}",
        "What it says, and every other lesson of the very same words, will be gone for good.",
    ]


def erased_lines(reply: Erased) -> list[str]:
    """Says what was erased."""
    again = "; said before, nothing new was written" if reply.replayed else ""
    return [
        f"erased: {', '.join(map(shown, reply.erased))}",
        "  the same words are refused when they come again; backups made before keep them until they expire",
        f"  tick {reply.tick}{again}",
    ]


def fitted(output: Output, text: str) -> str:
    """Returns a text for one cell: short on a wide terminal, else whole."""
    return shown(textwrap.shorten(text, _SHORT, placeholder=" ...") if output.wide() else text)


def _against_nothing(dispute: Dispute) -> str:
    return f"rejected before as {shown(dispute.precedent)}" if dispute.precedent else "nothing that is still there"
