"""A line without axes, for a tile."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.edges.dashboard.charts.chart import Chart, Shape, Table, n
from tributary.edges.dashboard.charts.figures import Unit, figure
from tributary.edges.dashboard.charts.lines import dotted, joined

_WIDTH, _HEIGHT, _EDGE = 120.0, 32.0, 3.0


def sparkline(
    values: Sequence[float | None], *, label: str, unit: Unit = Unit.COUNT, names: Sequence[str] | None = None
) -> Chart:
    """Returns how a figure went, the oldest first, over a line at nought. `names` are those of the rows in its table."""
    known = [value for value in values if value is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    high = high if high > low else low + 1
    step = (_WIDTH - 2 * _EDGE) / max(1, len(values) - 1)
    points = [
        None if value is None else (_EDGE + step * place, _HEIGHT - _EDGE - (value - low) / (high - low) * (_HEIGHT - 2 * _EDGE))
        for place, value in enumerate(values)
    ]
    nought = _HEIGHT - _EDGE + low / (high - low) * (_HEIGHT - 2 * _EDGE)
    shapes = [Shape(d=f"M0 {n(nought)}H{n(_WIDTH)}", ink="grid")]
    if known:
        shapes.append(Shape(d=joined(points), ink="line", colour=1))
    if values and points[-1] is not None:
        shapes.append(Shape(d=dotted(points[-1:]), ink="dots", colour=1))
    described = "None of it is known."
    if known:
        last = figure(values[-1], unit)
        described = f"Lowest {figure(min(known), unit)}, highest {figure(max(known), unit)}, last {last}."
    heads = names or [str(place + 1) for place in range(len(values))]
    rows = [(name, None if value is None else figure(value, unit)) for name, value in zip(heads, values, strict=True)]
    return Chart(
        kind="sparkline",
        label=label,
        description=described,
        width=_WIDTH,
        height=_HEIGHT,
        shapes=shapes,
        table=Table(heads=("", label), rows=rows if known else ()),
    )
