"""How long calls took: a bar for each bin of a logarithmic axis, with the times that half and 95 of 100 took at most."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tributary.edges.dashboard.charts import axes
from tributary.edges.dashboard.charts.chart import WIDTH, Chart, Shape, Table, Word, n, textured
from tributary.edges.dashboard.charts.figures import Unit, figure, tick


def histogram(
    bounds_ms: Sequence[float], counts: Sequence[int], *, label: str, p50_ms: float | None, p95_ms: float | None
) -> Chart:
    """Returns the counts of calls by how long they took. `bounds_ms` rise, and are where bins end; the last bin has no end.

    Raises ValueError when there is not exactly one count more than there are bounds.
    """
    if len(counts) != len(bounds_ms) + 1:
        raise ValueError(f"{len(bounds_ms)} bounds make {len(bounds_ms) + 1} bins, not {len(counts)}")
    edges = _edges(bounds_ms)
    scale = axes.Scale.over([float(count) for count in counts], whole=True)
    shapes, words = scale.drawn(Unit.COUNT)
    x = [_x(edge, edges) for edge in edges]
    boxes = [
        (left, scale.y(count), max(1.0, right - left - 1), axes.BOTTOM - scale.y(count))
        for left, right, count in zip(x, x[1:], counts, strict=False)
    ]
    shapes += textured(boxes, 0)
    shapes.append(Shape(d=f"M{axes.LEFT:g} {axes.BOTTOM:g}H{axes.RIGHT:g}", ink="axis"))
    for row, (name, at) in enumerate((("p50", p50_ms), ("p95", p95_ms))):
        if at is not None:
            marked, word = _marked(_x(at, edges), f"{name} {figure(at, Unit.MS)}", row)
            shapes.append(marked)
            words.append(word)
    powers = [10.0**power for power in range(math.ceil(math.log10(edges[0])), math.floor(math.log10(edges[-1])) + 1)]
    words += [Word(x=_x(power, edges), y=axes.BOTTOM + 16, text=tick(power, Unit.MS), anchor="middle") for power in powers]
    calls = sum(counts)
    return Chart(
        kind="histogram",
        label=label,
        description=f"{figure(calls)} {'call' if calls == 1 else 'calls'}; half took {figure(p50_ms, Unit.MS)} at most,"
        f" 95 of 100 {figure(p95_ms, Unit.MS)}.",
        width=WIDTH,
        height=axes.HEIGHT,
        shapes=shapes,
        words=words,
        table=_table(bounds_ms, counts) if calls else Table(heads=(), rows=()),
    )


def _edges(bounds_ms: Sequence[float]) -> Sequence[float]:
    """Returns where bins begin and end in the picture: the first and the last one are as wide as their neighbours."""
    first, last = bounds_ms[0] ** 2 / bounds_ms[1], bounds_ms[-1] ** 2 / bounds_ms[-2]
    return [first, *bounds_ms, last]


def _x(ms: float, edges: Sequence[float]) -> float:
    within = min(max(ms, edges[0]), edges[-1])
    return axes.LEFT + math.log(within / edges[0]) / math.log(edges[-1] / edges[0]) * (axes.RIGHT - axes.LEFT)


def _marked(x: float, text: str, row: int) -> tuple[Shape, Word]:
    """Returns a line at a time and its words: left of the first one, right of the second one and lower, if they fit."""
    top = axes.TOP + 13 * row
    room = 7.0 * len(text)
    to_the_left = x - room > axes.LEFT if row == 0 else x + room > WIDTH
    word = Word(
        x=x - 4 if to_the_left else x + 4,
        y=top + 10,
        text=text,
        anchor="end" if to_the_left else "start",
        strong=True,
    )
    return Shape(d=f"M{n(x)} {n(top)}V{n(axes.BOTTOM)}", ink="mark", dash=None if row == 0 else "4 3"), word


def _table(bounds_ms: Sequence[float], counts: Sequence[int]) -> Table:
    names = [f"under {figure(bound, Unit.MS)}" for bound in bounds_ms] + [f"{figure(bounds_ms[-1], Unit.MS)} and more"]
    shown = [(name, count) for name, count in zip(names, counts, strict=True) if count]
    calls, before = sum(counts), 0
    rows = []
    for name, count in shown:
        before += count
        rows.append((name, figure(count), figure(before / calls, Unit.SHARE)))
    return Table(heads=("took (empty bins left out)", "calls", "so many, or faster"), rows=rows)
