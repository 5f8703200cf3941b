"""What a chart is: shapes and words in a fixed frame, a legend, and the same figures as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

WIDTH = 320.0
"""Of every chart but a sparkline, in units of the picture: 1 to 1 on the narrowest telephone, so that its words stay legible."""
COLOURS = 6
DASHES = (None, "6 3", "2 3", "9 3 2 3", "4 6", "12 4")
"""Of lines: each series has one of its own, so that nothing is told by colour alone."""

Cell = str | datetime | None
Ink = Literal["fill", "line", "dots"]


@dataclass(frozen=True, kw_only=True)
class Series:
    """Figures under one name, one for each place of the axis; None where it is not known."""

    name: str
    values: Sequence[float | None]
    lower: Sequence[float | None] = ()
    """The lower ends of their intervals, where they have any; `upper` is then as long."""
    upper: Sequence[float | None] = ()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A path, in the colour of a series (1 to COLOURS) or in that of the frame."""

    d: str
    ink: Ink | Literal["axis", "grid", "gap", "mark"]
    colour: int | None = None
    dash: str | None = None
    opacity: float | None = None


@dataclass(frozen=True, kw_only=True)
class Word:
    """A short text in the picture."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A line of the legend: how the series of that name is drawn, in a frame of 24 by 12."""

    name: str
    shapes: Sequence[Shape]


@dataclass(frozen=True, kw_only=True)
class Table:
    """The figures of a chart; the first cell of a row says what the row is about."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A picture that templates draw, and what it says in words."""

    kind: str
    label: str
    description: str
    width: float
    height: float
    shapes: Sequence[Shape] = ()
    words: Sequence[Word] = ()
    legend: Sequence[Entry] = ()
    table: Table

    @property
    def is_empty(self) -> bool:
        """Tells whether there is nothing to draw."""
        return not self.table.rows


def colour(number: int) -> int:
    """Returns the colour of a series by its place: they begin again after the last one."""
    return number % COLOURS + 1


def rectangle(left: float, top: float, width: float, height: float) -> str:
    """Returns a path around a rectangle."""
    return f"M{n(left)} {n(top)}h{n(width)}v{n(height)}h{n(-width)}z"


def n(value: float) -> str:
    """Returns a coordinate, to a tenth."""
    return f"{round(value, 1) + 0.0:g}"  # + 0.0: no -0


def textured(boxes: Iterable[tuple[float, float, float, float]], place: int) -> tuple[Shape, ...]:
    """Returns boxes (left, top, width, height) as a series of that place fills them: with a texture beside its colour."""
    boxes = tuple(box for box in boxes if box[3] > 0)
    if not boxes:
        return ()
    body = "".join(rectangle(*box) for box in boxes)
    own = colour(place)
    match place % COLOURS:
        case 0:
            return (Shape(d=body, ink="fill", colour=own),)
        case 1 | 3 as which:
            stripes = "".join(
                f"M{n(left)} {n(top + at)}h{n(width)}" for left, top, width, height in boxes for at in _steps(height, 3.0)
            )
            texture = Shape(d=stripes, ink="line", colour=own, dash=None if which == 1 else "1.5 1.5") if stripes else None
        case 2:
            pillars = "".join(
                f"M{n(left + at)} {n(top)}v{n(height)}" for left, top, width, height in boxes for at in _steps(width, 3.0)
            )
            texture = Shape(d=pillars, ink="line", colour=own) if pillars else None
        case 4:
            texture = Shape(d=body, ink="line", colour=own, dash="2 2")
        case _:
            texture = Shape(d=body, ink="line", colour=own)
    ground = Shape(d=body, ink="fill", colour=own, opacity=0.3)
    return (ground,) if texture is None else (ground, texture)


def _steps(length: float, by: float) -> Iterable[float]:
    at = by / 2
    while at < length:
        yield at
        at += by
