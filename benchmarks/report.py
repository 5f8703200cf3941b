"""From what was measured to what a reader gets: one table on the terminal, one in Markdown, one JSON document."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from rich import box
from rich.table import Table
from rich.text import Text

from benchmarks.figures import Figure
from benchmarks.running import Ran


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where and when a run was made: what its figures depend on besides the code."""

    command: str
    at: str
    machine: str
    cores: int | None
    python: str
    postgres: str | None
    pgvector: str | None
    load_before: float
    load_after: float
    seconds: float

    @classmethod
    def here(cls, command: str) -> Self:
        """Returns those of a run that begins now."""
        load = os.getloadavg()[0]
        return cls(
            command=command,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=platform.machine(),
            cores=os.cpu_count(),
            python=platform.python_version(),
            postgres=None,
            pgvector=None,
            load_before=round(load, 2),
            load_after=round(load, 2),
            seconds=0,
        )

    def ended(self, *, postgres: str | None, pgvector: str | None, seconds: float) -> Self:
        load = round(os.getloadavg()[0], 2)
        return replace(self, postgres=postgres, pgvector=pgvector, seconds=round(seconds), load_after=load)

    def __str__(self) -> str:
        database = f"PostgreSQL {self.postgres}, pgvector {self.pgvector}, fsync on, " if self.postgres else ""
        return (
            f"`{self.command}` on {self.at[:10]}: {database}Python {self.python}, {self.cores} cores {self.machine}, "
            f"load average {self.load_before:.1f} before and {self.load_after:.1f} after, {self.seconds:.0f} s. Ratios are to "
            "references measured in turn in this run; a load average above the number of cores makes times long and ratios "
            "uncertain."
        )


@dataclass(frozen=True, kw_only=True)
class Report:
    """One run."""

    surroundings: Surroundings
    ran: Sequence[Ran]

    @property
    def failed(self) -> list[Ran]:
        return [one for one in self.ran if one.error is not None]

    @property
    def figures(self) -> list[Figure]:
        return [figure for one in self.ran if one.measured for figure in one.measured.figures]

    def document(self) -> dict[str, object]:
        return {"run": asdict(self.surroundings), "benches": [one.document() for one in self.ran]}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns the run that a document tells of."""
        return cls(surroundings=Surroundings(**document["run"]), ran=tuple(Ran.of(one) for one in document["benches"]))


def table(report: Report) -> Table:
    """Returns the figures as one table, targets marked as met or missed; a bench that failed has a line that says so."""
    drawn = Table(box=box.SIMPLE_HEAD, caption=str(report.surroundings), caption_justify="left", pad_edge=False)
    drawn.add_column("measure", overflow="fold", min_width=24)
    for name in ("measured", "95 of 100", "reference", "ratio", "target"):
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("met", no_wrap=True)
    drawn.add_column("beside, and what to know", overflow="fold", min_width=24)
    for one in report.ran:
        if one.measured is None:
            drawn.add_row(one.name, *[""] * 5, Text("FAILED", style="bold red"), Text(one.error or "", style="red"))
        for figure in one.measured.figures if one.measured else ():
            *cells, met, beside = _cells(figure)
            drawn.add_row(*cells, Text(met, style="bold red" if figure.met is False else "green"), Text(beside, style="dim"))
        drawn.add_section()
    return drawn


def markdown(report: Report) -> str:
    """Returns the same table in Markdown, with its surroundings under it."""
    heads = ("measure", "measured", "95 of 100", "reference", "ratio", "target", "met", "beside, and what to know")
    lines = [_row(heads), "|---|--:|--:|--:|--:|--:|---|---|"]
    for one in report.ran:
        if one.measured is None:
            lines.append(_row((f"**{one.name}**", *[""] * 5, "**FAILED**", one.error or "")))
        lines += [_row(_cells(figure)) for figure in (one.measured.figures if one.measured else ())]
    return "\n".join([*lines, "", str(report.surroundings)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        f"{shown(figure.value)} {figure.unit}".strip(),
        "" if figure.p95 is None else shown(figure.p95),
        "" if figure.reference is None else shown(figure.reference),
        "" if figure.ratio is None else f"{figure.ratio:.2f}x",
        "" if figure.target is None else str(figure.target) + ("x" if figure.ratio is not None else ""),
        "" if figure.met is None else "yes" if figure.met else "no",
        f"{figure.beside}; {figure.note}" if figure.beside and figure.note else figure.beside or figure.note,
    )


def shown(value: float) -> str:
    """Returns a number with about three digits that tell something."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}"
