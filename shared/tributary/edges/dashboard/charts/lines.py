"""Lines: several figures over the same places, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from tributary.edges.dashboard.charts import axes
from tributary.edges.dashboard.charts.chart import DASHES, WIDTH, Chart, Entry, Series, Shape, Table, colour, n
from tributary.edges.dashboard.charts.figures import Unit, figure

Point = tuple[float, float]


def lines(
    names: Sequence[str],
    series: Sequence[Series],
    *,
    label: str,
    unit: Unit = Unit.NUMBER,
    of: str = "",
    rows: Sequence[str] | None = None,
    fit: bool = False,
) -> Chart:
    """Returns a line for each series, over places with these names, the oldest first.

    An interval is a bar through its point. `of` says what the places are (a run, a generation), `rows` what the table calls
    each of them where that is more than its name. With `fit` the axis spans what there is instead of beginning at 0. A line
    breaks where a value is not known.
    """
    known = [value for one in series for value in chain(one.values, one.lower, one.upper) if value is not None]
    most = 1.0 if unit is Unit.SHARE else None
    scale = axes.Scale.over(known, fit=fit, whole=unit is Unit.COUNT, most=most)
    shapes, words = scale.drawn(unit)
    at = axes.places(len(names))
    for place, one in enumerate(series):
        points = [None if value is None else (x, scale.y(value)) for x, value in zip(at, one.values, strict=True)]
        shapes += _interval(one, at, scale, place)
        if any(points):
            shapes.append(Shape(d=joined(points), ink="line", colour=colour(place), dash=DASHES[place % len(DASHES)]))
            shapes.append(Shape(d=dotted(points), ink="dots", colour=colour(place)))
    return Chart(
        kind="lines",
        label=label,
        description=f"{len(names)} places, from {names[0]} to {names[-1]}. " + " ".join(_described(one, unit) for one in series)
        if known
        else "None of it is known.",
        width=WIDTH,
        height=axes.HEIGHT,
        shapes=shapes,
        words=[*words, *axes.named(names)],
        legend=[_entry(one.name, place) for place, one in enumerate(series)] if len(series) > 1 else (),
        table=_table(rows or names, series, unit, of) if known else Table(heads=(), rows=()),
    )


def joined(points: Sequence[Point | None]) -> str:
    """Returns a path through points, broken where one is missing; a lone one is a line of no length."""
    parts: list[str] = []
    before: Point | None = None
    for point in points:
        if point is not None:
            parts.append(f"{'L' if before else 'M'}{n(point[0])} {n(point[1])}" + ("" if before else "h0"))
        before = point
    return "".join(parts)


def dotted(points: Sequence[Point | None]) -> str:
    """Returns a path of lines of no length, which round ends make dots."""
    return "".join(f"M{n(point[0])} {n(point[1])}h0" for point in points if point is not None)


def _interval(one: Series, at: Sequence[float], scale: axes.Scale, place: int) -> list[Shape]:
    if not one.lower:
        return []
    shift = 2.0 * place  # side by side, where those of two series would lie upon each other
    bars = "".join(
        f"M{n(x + shift - 3)} {n(scale.y(upper))}h6m-3 0V{n(scale.y(lower))}m-3 0h6"
        for x, lower, upper in zip(at, one.lower, one.upper, strict=True)
        if lower is not None and upper is not None
    )
    return [Shape(d=bars, ink="line", colour=colour(place), opacity=0.6)] if bars else []


def _described(one: Series, unit: Unit) -> str:
    known = [value for value in one.values if value is not None]
    if not known:
        return f"{one.name}: not known."
    return f"{one.name}: {figure(known[0], unit)} at first, {figure(known[-1], unit)} at last."


def _entry(name: str, place: int) -> Entry:
    line = Shape(d="M1 6H23", ink="line", colour=colour(place), dash=DASHES[place % len(DASHES)])
    return Entry(name=name, shapes=(line, Shape(d="M12 6h0", ink="dots", colour=colour(place))))


def _table(names: Sequence[str], series: Sequence[Series], unit: Unit, of: str) -> Table:
    heads = [of]
    for one in series:
        heads += [one.name, *(("from", "to") if one.lower else ())]
    rows: list[Sequence[str | None]] = []
    for place, name in enumerate(names):
        row: list[str | None] = [name]
        for one in series:
            ends = (one.lower[place], one.upper[place]) if one.lower else ()
            row += [None if value is None else figure(value, unit) for value in (one.values[place], *ends)]
        rows.append(row)
    return Table(heads=heads, rows=rows)
