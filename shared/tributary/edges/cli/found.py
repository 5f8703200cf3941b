"""How lessons, hits and receipts are laid out: a table on a wide terminal, else a list that can be piped and searched."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tributary.edges.cli.output import Output, console
from tributary.edges.cli.words import moment, shown, shown_block

if TYPE_CHECKING:
    from rich.text import Text

    from tributary.client import Hit, Hits, Learned, Lesson, Receipt

HELD_BACK = "[do not follow] "
"""Stands before every quarantined text."""
_SHORT = 100
_NOT_SCREENED = "screen_unavailable"
"""The code that a reason names when no screen could say anything."""


def learned_lines(reply: Learned) -> list[str]:
    """Says what became of a lesson."""
    lesson = f": {shown(reply.lesson.id)} ({reply.lesson.status})" if reply.lesson else ""
    lines = [f"{reply.outcome}{lesson}", f"  {shown(reply.reason)}"]
    if reply.replaced:
        lines.append(f"  replaced {', '.join(map(shown, reply.replaced))}")
    if reply.precedent and reply.precedent not in reply.reason:
        lines.append(f"  a curator rejected the same before, as {shown(reply.precedent)}")
    if reply.dispute:
        lines.append(f"  dispute {shown(reply.dispute)}")
        lines.append(f"  next, for a curator: tributary curate show {shown(reply.dispute)}")
    if reply.challenges:
        lines.append(f"  challenges {', '.join(map(shown, reply.challenges))}")
        lines.append(f"  next, for a curator: tributary curate show {shown(reply.challenges[0])}")
    again = "; said before, nothing new was written" if reply.replayed else ""
    if reply.outcome == "quarantined" and reply.lesson:
        lines.append(f"  next: {_after_quarantine(reply, shown(reply.lesson.id))}")
    lines.append(f"  decision {shown(reply.decision)}, tick {reply.tick}{again}")
    return lines


def _after_quarantine(reply: Learned, lesson: str) -> str:
    if _NOT_SCREENED in re.split(r"[ ,;]+", reply.reason):
        return "nothing; no screen answered, and the gardener has the lesson screened again"
    return f"for a curator: tributary curate release {lesson}, if the screen was wrong"


def hits_document(hits: Hits) -> dict[str, object]:
    """Returns hits as the API sends them, the receipt as it was signed."""
    return {
        "hits": [
            {
                "lesson": hit.lesson.model_dump(mode="json"),
                "score": hit.score,
                "terms": hit.terms,
                "confidence": hit.confidence,
                "label": hit.label,
                "challenges": [one.model_dump(mode="json") for one in hit.challenges],
            }
            for hit in hits
        ],
        "receipt": hits.receipt.document(),
    }


def show_hits(output: Output, hits: Hits) -> None:
    """Shows each hit with rank, confidence, score and challenges, then what the search covered."""
    if hits and output.wide():
        _hits_table(hits)
    else:
        output.lines([line for rank, hit in enumerate(hits, 1) for line in _hit_lines(rank, hit)])
    output.lines(receipt_lines(hits.receipt))


def show_lessons(output: Output, lessons: Sequence[Lesson]) -> None:
    """Shows one row a lesson."""
    if not lessons:
        output.remark("No lesson stands so.")
        return
    columns = (("lesson", "left"), ("status", "left"), ("conf", "right"), ("about", "left"), ("text", "left"))
    rows = [
        (
            shown(one.id),
            one.status,
            f"{one.confidence:.2f}",
            shown(one.subject or ""),
            (HELD_BACK if one.status == "quarantined" else "")
            + shown(one.text if not output.wide() else textwrap.shorten(one.text, _SHORT, placeholder=" ...")),
        )
        for one in lessons
    ]
    output.table(columns, rows)


def receipt_lines(receipt: Receipt) -> list[str]:
    """Says what the search covered, in words and in one line of figures."""
    from tributary.client import coverage_words

    ticks = ", ".join(
        f"tick {one.tick} ({moment(one.at)}{'' if one.settled else ', not settled yet'})" for one in receipt.searched
    )
    left_out = ", ".join(f"{shown(one.rule)} {one.count}" for one in receipt.excluded) or "nothing"
    figures = [
        f"coverage {receipt.coverage}",
        f"by {', '.join(map(shown, receipt.paths)) or 'no path'}",
        f"{receipt.considered} considered",
        f"left out: {left_out}",
        ticks,
        shown(receipt.id),
    ]
    return [coverage_words(receipt), "; ".join(part for part in figures if part)]


def _hits_table(hits: Hits) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("lesson", overflow="fold", ratio=1)
    table.add_column("conf", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    for rank, hit in enumerate(hits, 1):
        cell = Text("\n").join(_hit_cell(hit))
        table.add_row(Text(str(rank)), cell, Text(f"{hit.confidence:.2f}"), Text(f"{hit.score:.2f}"))
    console().print(table)


def _hit_cell(hit: Hit) -> Iterator[Text]:
    from rich.text import Text

    if hit.label is not None:
        yield Text(shown(hit.label), style="bold yellow")
    yield Text(shown_block(hit.text))
    yield Text(_about(hit), style="dim")
    for challenge in hit.challenges:
        yield Text(f"challenged by {shown(challenge.id)}: {shown_block(challenge.text)}", style="yellow")


def _hit_lines(rank: int, hit: Hit) -> Iterator[str]:
    label = f" [{shown(hit.label)}]" if hit.label is not None else ""
    first, *rest = shown_block(hit.text).split("\n")
    yield f"{rank}. {first}{label}"
    yield from (f"   {line}" for line in rest)
    yield f"   {_about(hit)}"
    yield f"   confidence {hit.confidence:.2f}, score {hit.score:.2f}"
    for challenge in hit.challenges:
        yield f"   challenged by {shown(challenge.id)}: {shown(challenge.text)}"


def _about(hit: Hit) -> str:
    subject = f"; about {shown(hit.subject)}" if hit.subject is not None else ""
    return f"{shown(hit.id)}; when {shown(hit.situation)}{subject}"
