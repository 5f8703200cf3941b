"""How commands speak: results on standard output, as words or as JSON, and remarks on standard error."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console

NARROW = 72
"""Below so many columns a table is laid out as a list."""
_GAP = 3
"""Columns between two of a table."""
_READABLE = 24
"""Columns that the last one needs, where its text is longer."""
_NAME_WIDTH = 9
"""Columns of the names in a block, at least."""


class Output:
    """One command's voice. With `as_json` the only thing on standard output is one JSON value."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def result(self, document: object, lines: Sequence[str]) -> None:
        """Says the result: `document` for machines, `lines` for people, which are to be safe to print."""
        if self.as_json:
            self.json(document)
        else:
            self.lines(lines)

    def json(self, document: object) -> None:
        """Says one JSON value."""
        text = json.dumps(document, ensure_ascii=False, indent=None if not sys.stdout.isatty() else 2)
        # the rest of what a terminal would obey; JSON itself escapes the first 32 alone
        self.lines(["".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)])

    def lines(self, lines: Sequence[str]) -> None:
        """Says each line whole: nothing wraps it, so it can be copied, searched and cut."""
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def table(self, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
        """Says rows under (heading, 'left' or 'right') columns, on a terminal as a table, else as lines with tabs.

        No cell but the last of a row is ever broken, since ids and times are there to be copied. Where a terminal is too narrow
        for that, each row is a block.
        """
        headings = [heading for heading, _ in columns]
        if not self.wide():
            self.lines(["\t".join(headings), *("\t".join(row) for row in rows)])
            return
        if not _fits(headings, rows):
            self.blocks(headings, [(f"{headings[0]} {row[0]}", *row[1:]) for row in rows], head=1)
            return
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for place, (heading, side) in enumerate(columns, start=1):
            whole = place < len(columns)
            table.add_column(heading, justify="right" if side == "right" else "left", overflow="fold", no_wrap=whole)
        for row in rows:
            table.add_row(*row)
        console().print(table)

    def blocks(self, headings: Sequence[str], rows: Sequence[Sequence[str]], *, head: int) -> None:
        """Says each row as a block: its first `head` cells on one line, and each other that is not empty below its heading."""
        width = max(_NAME_WIDTH, *(len(heading) for heading in headings))
        for row in rows:
            named = zip(headings[head:], row[head:], strict=True)
            self.lines(["  ".join(row[:head]), *(f"  {name:<{width}} {cell}" for name, cell in named if cell)])

    def wide(self) -> bool:
        """Tells whether standard output is a terminal on which a table is legible."""
        return sys.stdout.isatty() and shutil.get_terminal_size().columns >= NARROW

    def remark(self, text: str) -> None:
        """Says something beside the result."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _fits(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tells whether every column but the last has room for its longest cell, and the last enough to be read."""
    from rich.cells import cell_len

    widths = [max(cell_len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]
    left = shutil.get_terminal_size().columns - sum(width + _GAP for width in widths[:-1])
    return left >= min(widths[-1] + 1, _READABLE)


def console() -> Console:
    """Returns a console on standard output that interprets no markup, colours no guess and honours NO_COLOR."""
    from rich.console import Console as RichConsole

    class _Console(RichConsole):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return _Console(markup=False, emoji=False, highlight=False)
