"""A whole and its parts, as one bar."""

from __future__ import annotations

from collections.abc import Sequence

from tributary.edges.dashboard.charts.chart import WIDTH, Chart, Entry, Shape, Table, rectangle, textured
from tributary.edges.dashboard.charts.figures import Unit, figure

_HEIGHT = 22.0
_LEAST = 3.0
"""So wide at least is what is there at all: one among thousands is to be seen, too."""


def strip(parts: Sequence[tuple[str, int]], *, label: str) -> Chart:
    """Returns named counts side by side in one bar, in their order; their figures stand in the legend."""
    total = sum(count for _, count in parts)
    widths = _widths([count for _, count in parts])
    left = 0.0
    shapes: list[Shape] = []
    for place, width in enumerate(widths):
        shapes += textured([(left, 0.0, width, _HEIGHT)] if width else (), place)
        left += width
    frame = Shape(d=rectangle(0.5, 0.5, WIDTH - 1, _HEIGHT - 1), ink="grid")
    said = [(name, figure(count), figure(count / total, Unit.SHARE) if total else None) for name, count in parts]
    return Chart(
        kind="strip",
        label=label,
        description=", ".join(f"{name} {count}" for name, count, _ in said) + f"; {figure(total)} in all.",
        width=WIDTH,
        height=_HEIGHT,
        shapes=[frame, *shapes],
        legend=[
            Entry(name=f"{name} {count}", shapes=textured([(1, 1, 22, 10)], place)) for place, (name, count, _) in enumerate(said)
        ],
        table=Table(heads=("", "count", "share"), rows=said if total else ()),
    )


def _widths(counts: Sequence[int]) -> Sequence[float]:
    """Returns the widths of the parts, which fill the bar; none is too narrow to be seen but those of nothing."""
    total = sum(counts)
    if not total:
        return [0.0] * len(counts)
    narrow = [0 < count / total * WIDTH < _LEAST for count in counts]
    rest = sum(count for count, one in zip(counts, narrow, strict=True) if not one)
    left = WIDTH - _LEAST * sum(narrow)
    return [_LEAST if one else count / rest * left for count, one in zip(counts, narrow, strict=True)]
