"""Bars by hour or day, stacked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tributary.edges.dashboard.charts import axes
from tributary.edges.dashboard.charts.chart import (
    WIDTH,
    Cell,
    Chart,
    Entry,
    Series,
    Shape,
    Table,
    Word,
    rectangle,
    textured,
)
from tributary.edges.dashboard.charts.figures import Unit, figure

Box = tuple[float, float, float, float]


def bars(
    starts: Sequence[datetime],
    series: Sequence[Series],
    *,
    label: str,
    unit: Unit = Unit.COUNT,
    every: axes.Every = "hour",
) -> Chart:
    """Returns a bar for each hour or day (by its start), the series upon each other in their order.

    Where a series has no value, the hour is marked as not known, for whatever is known of it would be too low a bar.
    """
    columns = list(zip(*(one.values for one in series), strict=True))
    sums = [None if None in column else sum(value or 0.0 for value in column) for column in columns]
    known = [one for one in sums if one is not None]
    scale = axes.Scale.over(known, whole=unit is Unit.COUNT)
    shapes, words = scale.drawn(unit)
    boxes = _boxes(columns, sums, scale, len(series))
    shapes += _gaps(sums)
    for place, stacked in enumerate(boxes):
        shapes += textured(stacked, place)
    shapes.append(Shape(d=f"M{axes.LEFT:g} {scale.y(0):.1f}H{axes.RIGHT:g}", ink="axis"))
    legend = [Entry(name=one.name, shapes=textured([(1, 1, 22, 10)], place)) for place, one in enumerate(series)]
    legend = legend if len(series) > 1 else []
    if len(known) < len(sums):
        legend.append(Entry(name="not known", shapes=(Shape(d=rectangle(1, 1, 22, 10), ink="gap"),)))
    return Chart(
        kind="bars",
        label=label,
        description=_described(starts, sums, unit, every),
        width=WIDTH,
        height=axes.HEIGHT,
        shapes=shapes,
        words=[*words, *axes.timed(starts, every), Word(x=2, y=axes.BOTTOM + 16, text="UTC")],
        legend=legend,
        table=_table(starts, series, sums, unit, every),
    )


def _boxes(
    columns: Sequence[Sequence[float | None]], sums: Sequence[float | None], scale: axes.Scale, count: int
) -> Sequence[list[Box]]:
    """Returns, for each series, its part of each column."""
    pitch = (axes.RIGHT - axes.LEFT) / max(1, len(columns))
    width = min(pitch * 0.8, 26.0)
    boxes: list[list[Box]] = [[] for _ in range(count)]
    for middle, column, total in zip(axes.places(len(columns)), columns, sums, strict=True):
        below = 0.0
        for place, value in enumerate(column if total is not None else ()):
            top = scale.y(below + (value or 0.0))
            boxes[place].append((middle - width / 2, top, width, scale.y(below) - top))
            below += value or 0.0
    return boxes


def _gaps(sums: Sequence[float | None]) -> list[Shape]:
    pitch = (axes.RIGHT - axes.LEFT) / max(1, len(sums))
    gaps = "".join(
        rectangle(middle - pitch / 2, axes.TOP, pitch, axes.BOTTOM - axes.TOP)
        for middle, one in zip(axes.places(len(sums)), sums, strict=True)
        if one is None
    )
    return [Shape(d=gaps, ink="gap")] if gaps else []


def _described(starts: Sequence[datetime], sums: Sequence[float | None], unit: Unit, every: axes.Every) -> str:
    known = [(one, start) for one, start in zip(sums, starts, strict=True) if one is not None]
    if not known:
        return "None of it is known."
    most, when = max(known)
    missing = f" {len(sums) - len(known)} of them are not known." if len(known) < len(sums) else ""
    return (
        f"{axes.span(starts, every)}.{missing} In all {figure(sum(one for one, _ in known), unit)}, at most {figure(most, unit)}"
        f" in one {every}, that of {axes.span([when], every).partition(', ')[2].partition(' to ')[0]}."
    )


def _table(
    starts: Sequence[datetime], series: Sequence[Series], sums: Sequence[float | None], unit: Unit, every: axes.Every
) -> Table:
    with_sums = len(series) > 1
    rows: list[Sequence[Cell]] = []
    for place, start in enumerate(starts):
        found = [*(one.values[place] for one in series), *((sums[place],) if with_sums else ())]
        rows.append((axes.cell_of(start, every), *(None if value is None else figure(value, unit) for value in found)))
    return Table(heads=(every, *(one.name for one in series), *(("all",) if with_sums else ())), rows=rows)
