"""From figures to what a reader gets: one table, one JSON document."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich import box
from rich.table import Table
from rich.text import Text

from benchmarks.figures import Figure, Measured


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where and when a run was made: what its figures depend on besides the code."""

    lessons: int
    postgres: str | None
    pgvector: str | None
    load_before: float
    load_after: float
    seconds: float

    def document(self) -> dict[str, object]:
        return {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load_average_before": round(self.load_before, 2),
            "load_average_after": round(self.load_after, 2),
            "python": platform.python_version(),
            "postgres": self.postgres,
            "pgvector": self.pgvector,
            "lessons": self.lessons,
            "fsync": "on, unless a figure says otherwise",
            "seconds": round(self.seconds),
        }

    def __str__(self) -> str:
        database = f"PostgreSQL {self.postgres}, pgvector {self.pgvector}, fsync on, " if self.postgres else ""
        return (
            f"{database}Python {platform.python_version()}, {os.cpu_count()} cores {platform.machine()}, load average "
            f"{self.load_before:.1f} before and {self.load_after:.1f} after, {self.seconds:.0f} s. Ratios are to references "
            "measured in turn in this run; a load average above the number of cores makes times long and ratios uncertain."
        )


def table(measured: Sequence[Measured], surroundings: Surroundings) -> Table:
    """Returns the figures as one table, those with a target marked as met or missed."""
    drawn = Table(box=box.SIMPLE_HEAD, caption=str(surroundings), caption_justify="left", pad_edge=False)
    drawn.add_column("measure", overflow="fold", min_width=24)
    for name in ("measured", "95 of 100", "reference", "ratio", "target"):
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("met", no_wrap=True)
    drawn.add_column("beside, and what to know", overflow="fold", min_width=24)
    for one in measured:
        for figure in one.figures:
            drawn.add_row(*_cells(figure))
        drawn.add_section()
    return drawn


def document(measured: Sequence[Measured], surroundings: Surroundings) -> dict[str, object]:
    return {
        "run": surroundings.document(),
        "figures": [figure.document() for one in measured for figure in one.figures],
        "distributions_ms": {name: list(values) for one in measured for name, values in one.distributions.items()},
        "series": {name: [list(point) for point in points] for one in measured for name, points in one.series.items()},
    }


def _cells(figure: Figure) -> tuple[str | Text, ...]:
    met = "" if figure.met is None else Text("yes", style="green") if figure.met else Text("no", style="bold red")
    beside = f"{figure.beside}; {figure.note}" if figure.beside and figure.note else figure.beside or figure.note
    return (
        figure.name,
        f"{shown(figure.value)} {figure.unit}".strip(),
        "" if figure.p95 is None else shown(figure.p95),
        "" if figure.reference is None else shown(figure.reference),
        "" if figure.ratio is None else f"{figure.ratio:.2f}x",
        "" if figure.target is None else str(figure.target) + ("x" if figure.ratio is not None else ""),
        met,
        Text(beside, style="dim"),
    )


def shown(value: float) -> str:
    """Returns a number with about three digits that tell something."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}"
