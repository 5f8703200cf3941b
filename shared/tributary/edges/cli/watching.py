"""`tributary watch`: what changes in the tribe, one line each as it happens, and how the tribe stands meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.history_lines import reasons, text_of
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, moment, shown

if TYPE_CHECKING:
    from tributary.client import Change, Memory, Stats
    from tributary.edges.cli.output import Output

COLUMNS = (("tick", 7), ("when", 8), ("who", 14), ("what", 11), ("outcome", 11))
"""Headings and widths of the columns before the text, which has what is left of the line."""
_ALL_COLUMNS_FROM = 100
"""Characters in a line of a terminal below which the outcome is left out, so that the text has room."""
_SHORT = 200
"""Characters of a text where no terminal bounds it."""
_STANDING_EVERY_S = 2.0
"""The counts are asked for no more often than this."""


def watch(
    context: typer.Context,
    after: Annotated[
        int | None, typer.Option(metavar="TICK", min=0, help="Begin with what happened after this tick; else with what comes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch the tribe live: who did what, and what came of it. Ctrl-C ends it.

    On a terminal a line below keeps count of how the tribe stands; elsewhere changes are lines with tabs. With --json each
    line is one JSON value, a change. A server that is away for a while is waited for.

    \b
    Example: tributary watch --after 418
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        standing = memory.stats()
        tick = standing.tick if after is None else after
        with _voice(output, standing) as voice:
            try:
                for page in memory.change_pages(tick, follow=True):
                    voice.say(page.changes)
                    tick = page.tick
                    voice.refresh(memory)
            except KeyboardInterrupt:
                pass
    output.remark(f"Watched up to tick {tick}: --after {tick} goes on from there.")


class _Voice(Protocol):
    def say(self, changes: Sequence[Change]) -> None: ...

    def refresh(self, memory: Memory) -> None: ...


@contextmanager
def _voice(output: Output, standing: Stats) -> Iterator[_Voice]:
    if output.as_json or not output.wide():
        yield _Lines(output, standing)
        return
    from rich.live import Live
    from rich.text import Text

    from tributary.edges.cli.output import console

    with Live(Text(standing_line(standing)), console=console(), auto_refresh=False) as live:
        yield _Screen(live)


class _Lines:
    """Says changes where nobody looks on: tabs between, or JSON."""

    def __init__(self, output: Output, standing: Stats) -> None:
        self._output = output
        if not output.as_json:
            output.remark(standing_line(standing))
            output.lines(["\t".join((*(name for name, _ in COLUMNS), "text"))])

    def say(self, changes: Sequence[Change]) -> None:
        if self._output.as_json:
            self._output.lines([json.dumps(one.model_dump(mode="json"), ensure_ascii=False) for one in changes])
        else:
            self._output.lines(["\t".join(_cells(one)) for one in changes])

    def refresh(self, memory: Memory) -> None:
        """Says nothing more: the standing was told at the beginning, and the lines tell the rest."""


class _Screen:
    """Says changes above a line that says how the tribe stands now."""

    def __init__(self, live: object) -> None:
        from rich.live import Live

        assert isinstance(live, Live)
        self._live = live
        self._asked_at = time.monotonic()
        self._heading = heading(live.console.width)

    def say(self, changes: Sequence[Change]) -> None:
        from rich.text import Text

        lines = [line(one, self._live.console.width) for one in changes]
        if self._heading:
            lines.insert(0, self._heading)
            self._heading = ""
        for one in lines:
            self._live.console.print(Text(one, no_wrap=True, overflow="crop"))

    def refresh(self, memory: Memory) -> None:
        from rich.text import Text

        from tributary.client import TributaryError

        if time.monotonic() < self._asked_at + _STANDING_EVERY_S:
            return
        self._asked_at = time.monotonic()
        try:
            self._live.update(Text(standing_line(memory.stats())), refresh=True)
        except TributaryError:  # the feed goes on, and finds out by itself whether the server is away
            return


def standing_line(found: Stats) -> str:
    """Returns how the tribe stands in one line."""
    lessons = ", ".join(f"{count} {shown(status)}" for status, count in sorted(found.lessons.items())) or "no lessons"
    opened = f"{counted(found.open_disputes, 'open dispute')}, {counted(found.open_challenges, 'open challenge')}"
    return f"tick {found.tick}: {lessons}; {opened}; {counted(sum(found.agents.values()), 'agent')}"


def heading(columns: int) -> str:
    """Returns the headings of `line`, so many columns wide."""
    return _fitted((*(name for name, _ in COLUMNS), "text"), columns)


def line(one: Change, columns: int) -> str:
    """Returns a change on one line of a terminal, no wider than `columns`."""
    return _fitted(_cells(one), columns)


def _cells(one: Change) -> tuple[str, ...]:
    said = shown(text_of(one)) if one.lesson is not None else ", ".join(reasons(one, decision=False))
    short = said if len(said) <= _SHORT else f"{said[: _SHORT - 3]}..."
    when = moment(one.at)[11:19]
    return (str(one.tick), when, shown(one.by or "(operator)"), one.event.replace("_", " "), one.status or "", short)


def _fitted(cells: Sequence[str], columns: int) -> str:
    """Returns the cells side by side, each in its width as a terminal counts it; what does not fit ends in dots."""
    from rich.cells import cell_len, set_cell_size

    shown_columns = COLUMNS if columns >= _ALL_COLUMNS_FROM else COLUMNS[:-1]
    cells = (*cells[: len(shown_columns)], cells[-1])
    widths = [*(width for _, width in shown_columns), max(1, columns - sum(width + 2 for _, width in shown_columns))]
    shown_cells = [
        one if cell_len(one) <= width else f"{set_cell_size(one, max(0, width - 2))}.."
        for one, width in zip(cells, widths, strict=True)
    ]
    padded = [set_cell_size(one, width) for one, width in zip(shown_cells, widths, strict=True)]
    return "  ".join(padded).rstrip()
