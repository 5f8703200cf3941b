"""How the difference between two moments is laid out: blocks on a terminal; elsewhere one line a change, with tabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tributary.edges.cli.curation_found import fitted
from tributary.edges.cli.history_lines import reasons
from tributary.edges.cli.lesson_lines import field
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import BeliefChange, DiffPage
    from tributary.edges.cli.output import Output

_HEADINGS = ("change", "how", "tick", "when", "by", "lesson", "about", "replaced", "why", "text")
_SIGNS = {"began": "+", "ended": "-"}


class DiffVoice:
    """Says changes page by page as they come, and at the end how many there are in all; as JSON, all of it at the end."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._pages: list[DiffPage] = []
        self._changes: list[dict[str, object]] = []
        self.said = 0

    def say(self, page: DiffPage, *, most: int | None) -> None:
        """Says what a page holds, but for what is more than `most` in all."""
        changes = page.items if most is None else page.items[: most - self.said]
        if self._output.as_json:
            self._changes += (one.model_dump(mode="json") for one in changes)
        elif self._output.wide():
            self._output.lines([line for one in changes for line in self._block(one)])
        elif changes:
            heading = [] if self._pages else ["\t".join(_HEADINGS)]
            self._output.lines([*heading, *("\t".join(_row(one)) for one in changes)])
        self._pages.append(page)
        self.said += len(changes)

    def end(self) -> None:
        """Says between which moments that was, and how many changes there are."""
        last = self._pages[-1]
        more = self.said < last.began + last.ended
        if self._output.as_json:
            moments = {"since": last.since.model_dump(mode="json"), "until": last.until.model_dump(mode="json")}
            receipts = [one.receipt.document() for one in self._pages]
            totals = {"began": last.began, "ended": last.ended, "more": more}
            self._output.json({**moments, **totals, "changes": self._changes, "receipts": receipts})
            return
        when = f"from tick {last.since.tick} ({moment(last.since.at)}) to tick {last.until.tick} ({moment(last.until.at)})"
        self._output.remark(f"{last.began} began to be believed and {last.ended} ceased to be, {when}.")
        if more:
            self._output.remark(f"There are more; --limit shows more than {self.said}.")

    def _block(self, one: BeliefChange) -> Iterator[str]:
        tick = f"tick {one.event.tick}  " if one.event is not None else ""
        by = f"  by {shown(one.event.by)}" if one.event is not None and one.event.by is not None else ""
        yield f"{_SIGNS[one.change]} {one.how}  {tick}{moment(one.at)}{by}"
        yield f"  {shown(one.lesson.id)} is {one.lesson.status}"
        if one.lesson.subject is not None:
            yield from field("about", fitted(self._output, one.lesson.subject))
        yield from field("says", fitted(self._output, one.lesson.text or "(erased)"))
        yield from (f"  replaced {shown(old)}" for old in one.replaced)
        yield from (f"  {reason}" for reason in _reasons(one))


def _row(one: BeliefChange) -> tuple[str, ...]:
    lesson, event = one.lesson, one.event
    who = ("", "") if event is None else (str(event.tick), shown(event.by or "(operator)"))
    return (
        *(one.change, one.how, who[0], moment(one.at), who[1], shown(lesson.id), shown(lesson.subject or "")),
        *(" ".join(map(shown, one.replaced)), ", ".join(_reasons(one)), shown(lesson.text or "(erased)")),
    )


def _reasons(one: BeliefChange) -> Iterator[str]:
    if one.event is not None:
        yield from reasons(one.event, decision=True)
