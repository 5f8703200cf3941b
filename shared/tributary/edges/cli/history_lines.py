"""How timelines and changes are laid out: blocks on a terminal; changes elsewhere as one line each, with tabs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tributary.edges.cli.curation_found import fitted
from tributary.edges.cli.found import HELD_BACK, receipt_lines
from tributary.edges.cli.lesson_lines import field
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import Change, Event, Timeline
    from tributary.contract.history import ChainReply, LinkReply, RulingReply
    from tributary.edges.cli.output import Output

_HEADINGS = ("tick", "when", "event", "status", "by", "lesson", "about", "why", "text")


def timeline_document(found: Timeline) -> dict[str, object]:
    """Returns a timeline as the API sends it, the receipt as it was signed."""
    return {
        "lesson": found.lesson.model_dump(mode="json"),
        "events": [one.model_dump(mode="json") for one in found.events],
        "decisions": [one.model_dump(mode="json") for one in found.decisions],
        "predecessors": found.predecessors.model_dump(mode="json"),
        "successors": found.successors.model_dump(mode="json"),
        "next": found.next,
        "receipt": found.receipt.document(),
    }


def timeline_lines(found: Timeline) -> Iterator[str]:
    """Yields what came before the lesson, what happened to it and why, and what came after it."""
    lesson = found.lesson
    yield f"{shown(lesson.id)} ({lesson.status})"
    yield from field("says", (HELD_BACK if lesson.status == "quarantined" else "") + (lesson.text or "(erased)"))
    yield from _chain("It replaced, oldest first:", found.predecessors)
    yield ""
    yield "What happened:" if found.events else "Nothing happened before that tick."
    decisions = {one.id: one for one in found.decisions}
    for one in found.events:
        yield f"  tick {one.tick}  {moment(one.at)}  {one.event}{_by(one)}"
        if one.decision in decisions:
            yield from _ruling(decisions.pop(one.decision))
        yield from (f"    {reason}" for reason in reasons(one, decision=False))
    yield from _chain("It was replaced, in this order, by:", found.successors)
    yield ""
    yield receipt_lines(found.receipt)[1]


class ChangeVoice:
    """Says changes as they come: on a wide terminal as blocks, elsewhere as lines under one heading, or as JSON lines."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._headed = False

    def say(self, changes: Sequence[Change]) -> None:
        """Says each change."""
        if self._output.as_json:
            self._output.lines([json.dumps(one.model_dump(mode="json"), ensure_ascii=False) for one in changes])
        elif self._output.wide():
            self._output.lines([line for one in changes for line in self._block(one)])
        else:
            heading = [] if self._headed else ["\t".join(_HEADINGS)]
            self._headed = True
            self._output.lines([*heading, *("\t".join(_row(one)) for one in changes)])

    def _block(self, one: Change) -> Iterator[str]:
        yield f"tick {one.tick}  {moment(one.at)}  {one.event.replace('_', ' ')}{_by(one)}"
        if one.lesson is not None:
            yield f"  {shown(one.lesson)} is {one.status}"
            if one.subject is not None:
                yield from field("about", fitted(self._output, one.subject))
            yield from field("says", fitted(self._output, text_of(one)))
        yield from (f"  {reason}" for reason in reasons(one, decision=True))


def _row(one: Change) -> tuple[str, ...]:
    why = ", ".join(reasons(one, decision=True))
    text = text_of(one) if one.lesson is not None else ""
    return (
        *(str(one.tick), moment(one.at), one.event, one.status or "", shown(one.by or "(operator)"), shown(one.lesson or "")),
        *(shown(one.subject or ""), why, shown(text)),
    )


def text_of(one: Change | LinkReply) -> str:
    """Returns what the lesson says, marked where it is held back; or why that cannot be shown."""
    if one.text is None:
        return "(held back)" if one.held else "(erased)"
    return (HELD_BACK if one.held else "") + one.text


def _by(one: Event) -> str:
    return f"  by {shown(one.by)}" if one.by is not None else "  by the operator"


def reasons(one: Event, *, decision: bool) -> Iterator[str]:
    """Yields, in few words each, what is known of why it happened."""
    if one.cause is not None:
        yield f"cause {shown(one.cause).replace('_', ' ')}"
    if one.other is not None:
        yield f"because of {shown(one.other)}"
    if one.successor is not None:
        yield f"replaced by {shown(one.successor)}"
    for dispute in one.disputes:
        yield f"dispute {shown(dispute)}" + (f" ended: {shown(one.ending).replace('_', ' ')}" if one.ending else "")
    if one.receipt is not None:
        yield f"served by receipt {shown(one.receipt)}"
    if one.since is not None:
        yield f"over since {moment(one.since)}"
    if one.space is not None:
        yield f"space {shown(one.space)}"
    if decision and one.decision is not None:
        yield f"decision {shown(one.decision)}"


def _ruling(one: RulingReply) -> Iterator[str]:
    yield f"    decision {shown(one.id)}: {one.outcome}"
    yield f"      {shown(one.reason)}"
    for cited in one.receipts:
        yield f"      cites {shown(cited.id)} of tick {cited.tick} ({cited.coverage})"
        yield from (f"        which served {shown(hit)}" for hit in cited.hits)
        if not cited.hits:
            yield "        which served nothing"


def _chain(heading: str, chain: ChainReply) -> Iterator[str]:
    if not chain.lessons:
        return
    yield ""
    yield heading
    for one in chain.lessons:
        yield f"  {shown(one.id)} ({one.status}), {_interval(one)}"
        yield from field("says", text_of(one))
    if chain.more:
        yield "  and more, farther away"


def _interval(one: LinkReply) -> str:
    if one.activated is None:
        return f"learned at tick {one.learned.tick}, never believed"
    until = f" to {one.deactivated.tick}" if one.deactivated else " on"
    return f"believed from tick {one.activated.tick}{until}"
