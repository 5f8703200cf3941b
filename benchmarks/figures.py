"""What a bench measures: figures, each with the reference that it was measured beside and the target that it is held to."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound that the project promises; on the ratio when the figure has a reference, else on the value."""

    bound: float
    at_least: bool = False

    def met(self, judged: float) -> bool:
        return judged >= self.bound if self.at_least else judged <= self.bound

    def share(self, judged: float) -> float:
        """Returns how much of what is allowed was used: 1 is the bound itself, more is a miss."""
        if self.at_least:
            return self.bound / judged if judged else float("inf")
        return judged / self.bound if self.bound else 1.0 + judged

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"

    @classmethod
    def of(cls, said: str) -> Self:
        """Returns the target that says so of itself."""
        comparison, bound = said.split()
        return cls(bound=float(bound), at_least=comparison == ">=")


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Measurements of one thing, in milliseconds unless said otherwise."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        return sorted(self.values)[min(len(self.values) - 1, len(self.values) * 95 // 100)]

    @property
    def least(self) -> float:
        return min(self.values)

    def document(self) -> dict[str, float | int]:
        return {"n": len(self.values), "min": self.least, "median": self.median, "p95": self.p95}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table. `value` and `reference` are in `unit`; `note` says what a reader must know to trust it."""

    name: str
    value: float
    unit: str = ""
    p95: float | None = None
    reference: float | None = None
    beside: str = ""
    """What the reference is."""
    target: Target | None = None
    note: str = ""
    details: dict[str, object] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference if self.reference else None

    @property
    def judged(self) -> float:
        """The number that the target bounds."""
        return self.value if self.ratio is None else self.ratio

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        return None if self.target is None else self.target.met(self.judged)

    def document(self) -> dict[str, object]:
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "p95": self.p95,
            "reference": self.reference,
            "beside": self.beside,
            "ratio": self.ratio,
            "target": None if self.target is None else str(self.target),
            "met": self.met,
            "note": self.note,
            "details": self.details,
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns the figure of a document."""
        known = {one.name: document[one.name] for one in fields(cls)}
        return cls(**{**known, "target": None if document["target"] is None else Target.of(document["target"])})


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Where curves are drawn together. Both axes are logarithmic."""

    title: str
    across: str
    up: str

    def document(self) -> dict[str, str]:
        return {"title": self.title, "across": self.across, "up": self.up}


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What becomes of one thing while another grows: `points` are (how much of it, what was measured). `dashed`: a reference."""

    chart: Chart
    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False

    def document(self) -> dict[str, object]:
        points = [list(point) for point in self.points]
        return {"chart": self.chart.document(), "name": self.name, "points": points, "dashed": self.dashed}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns the curve of a document."""
        points = [(float(across), float(up)) for across, up in document["points"]]
        return cls(chart=Chart(**document["chart"]), name=document["name"], points=points, dashed=document["dashed"])


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The figures of one bench, and the distributions and curves behind them that are worth a picture.

    distributions   name -> milliseconds of each sample
    """

    figures: tuple[Figure, ...]
    distributions: Mapping[str, Sequence[float]] = field(default_factory=dict)
    curves: Sequence[Curve] = ()

    def document(self) -> dict[str, object]:
        return {
            "figures": [figure.document() for figure in self.figures],
            "distributions_ms": {name: list(values) for name, values in self.distributions.items()},
            "curves": [curve.document() for curve in self.curves],
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns what was measured from its document."""
        return cls(
            figures=tuple(Figure.of(one) for one in document["figures"]),
            distributions=document["distributions_ms"],
            curves=tuple(Curve.of(one) for one in document["curves"]),
        )


def best_of(rounds: Sequence[Sequence[float]]) -> Samples:
    """Returns, of each thing measured in several rounds, its quickest: what else the machine does only ever adds time."""
    return Samples(values=[min(of_one) for of_one in zip(*rounds, strict=True)])
