"""A confusion matrix: what carries a label by row, the answers that it got by column."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.edges.dashboard.charts.chart import WIDTH, Chart, Shape, Table, Word, rectangle
from tributary.edges.dashboard.charts.figures import Unit, figure

_LEFT, _TOP, _HIGH = 68.0, 50.0, 44.0
_NAME = 60.0
"""How wide a column must be for its name to stand beside the next one."""
_DARKEST = 0.4
"""How opaque a full cell is: its words keep a contrast of 4.5 to 1, in both themes."""


def matrix(labels: Sequence[str], answers: Sequence[str], counts: Sequence[Sequence[int]], *, label: str) -> Chart:
    """Returns the counts with their shares of the row, which shade them. Right answers have a frame."""
    wide = (WIDTH - 2 - _LEFT) / max(1, len(answers))
    shapes, words = [], [Word(x=_LEFT + wide * len(answers) / 2, y=14, text="answer", anchor="middle")]
    words += [
        Word(
            x=_LEFT + wide * (column + 0.5),
            y=_TOP - (20 if wide < _NAME and column % 2 else 7),
            text=answer,
            anchor="middle",
            strong=True,
        )
        for column, answer in enumerate(answers)
    ]
    words.append(Word(x=2, y=_TOP - 7, text="label"))
    for row, (name, found) in enumerate(zip(labels, counts, strict=True)):
        top, total = _TOP + _HIGH * row, sum(found)
        words.append(Word(x=_LEFT - 8, y=top + 26, text=name, anchor="end", strong=True))
        for column, (answer, count) in enumerate(zip(answers, found, strict=True)):
            box = rectangle(_LEFT + wide * column + 1, top + 1, wide - 2, _HIGH - 2)
            middle = _LEFT + wide * (column + 0.5)
            shapes.append(Shape(d=box, ink="fill", colour=1, opacity=round(_DARKEST * count / total, 2) if total else 0.0))
            shapes.append(Shape(d=box, ink="mark" if answer == name else "grid"))
            words.append(Word(x=middle, y=top + 20, text=figure(count), anchor="middle", strong=True))
            words.append(Word(x=middle, y=top + 35, text=_share(count, total), anchor="middle"))
    right = sum(found[answers.index(name)] for name, found in zip(labels, counts, strict=True) if name in answers)
    every = sum(map(sum, counts))
    return Chart(
        kind="matrix",
        label=label,
        description=f"{figure(right)} of {figure(every)} got the answer that their label says.",
        width=WIDTH,
        height=_TOP + _HIGH * len(labels) + 2,
        shapes=shapes,
        words=words,
        table=Table(
            heads=("label", *answers, "all"),
            rows=[
                (name, *(f"{figure(count)} ({_share(count, sum(found))})" for count in found), figure(sum(found)))
                for name, found in zip(labels, counts, strict=True)
            ]
            if every
            else (),
        ),
    )


def _share(count: int, total: int) -> str:
    return figure(count / total, Unit.SHARE) if total else "no case"
