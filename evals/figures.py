"""What a suite hands back: metrics with intervals, confusion matrices, tables, and what went wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tributary.core.evaluation import Better

Z95 = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One figure over `n` cases. `lower` and `upper` bound a share's 95 % interval; other figures have none.

    `tolerance` is how much worse than the baseline it may be; None where it is told but not watched, as a time is.
    """

    name: str
    value: float
    n: int
    better: Better = Better.HIGHER
    tolerance: float | None = 0.01
    lower: float | None = None
    upper: float | None = None


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Returns the Wilson score interval of a share at 95 % (E. B. Wilson, JASA 22, 1927); (0, 1) of nothing."""
    if n == 0:
        return 0.0, 1.0
    p, z2 = hits / n, Z95**2
    centre, half = p + z2 / (2 * n), Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def share(name: str, hits: int, n: int, *, better: Better = Better.HIGHER, tolerance: float | None = 0.01) -> Metric:
    """Returns hits of n as a metric with its interval; of nothing, 0."""
    lower, upper = wilson(hits, n)
    return Metric(name=name, value=hits / n if n else 0.0, n=n, better=better, tolerance=tolerance, lower=lower, upper=upper)


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """How often what carries one label got which answer."""

    title: str
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, title: str, labels: Sequence[str], answers: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Confusion:
        return cls(title=title, labels=tuple(labels), answers=tuple(answers), counts=Counter(pairs))

    def of_label(self, label: str) -> int:
        return sum(self.counts.get((label, answer), 0) for answer in self.answers)

    def of_answer(self, answer: str) -> int:
        return sum(self.counts.get((label, answer), 0) for label in self.labels)

    def figures(self, name: str) -> tuple[Metric, ...]:
        """Returns every count as `<name>.<label>.<answer>`, of so many cases with that label."""
        return tuple(
            Metric(name=f"{name}.{label}.{answer}", value=self.counts.get((label, answer), 0), n=n, tolerance=None)
            for label in self.labels
            if (n := self.of_label(label))
            for answer in self.answers
        )

    def precision(self, answer: str, *, tolerance: float | None = 0.01) -> Metric:
        """Returns the share of those that got an answer whose label it is."""
        hits = self.counts.get((answer, answer), 0)
        return share(f"precision_{answer}", hits, self.of_answer(answer), tolerance=tolerance)

    def recall(self, label: str, *, tolerance: float | None = 0.01) -> Metric:
        """Returns the share of those with a label that got it as their answer."""
        return share(f"recall_{label}", self.counts.get((label, label), 0), self.of_label(label), tolerance=tolerance)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table of a report. `numbers` tells from which column on cells are set to the right."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A case that went wrong, as `--errors` lists it."""

    id: str
    split: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a suite found.

    `not_measured` names what could not be measured here, by the beginning of its metrics' names (an empty one: all of them),
    with the reason. `pictures` draw what belongs to the suite alone, by the name of the file. `kept` are figures for the history
    alone: they are kept with a run in its database, shown by no report, and held against no baseline.
    """

    suite: str
    metrics: tuple[Metric, ...]
    kept: tuple[Metric, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    notes: tuple[str, ...] = ()
    not_measured: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    seconds: float = 0.0


def skipped(suite: str, reason: str) -> Measured:
    """Returns what is said of a suite that could not be run."""
    return Measured(suite=suite, metrics=(), not_measured={"": reason})


def shares_by_tag(title: str, tagged: Sequence[tuple[str, bool]]) -> Sheet:
    """Returns a table of how often each tag's cases were told right, from (tag, right)."""
    of: dict[str, list[bool]] = {}
    for tag, right in tagged:
        of.setdefault(tag, []).append(right)
    rows = []
    for tag, rights in sorted(of.items()):
        one = share(tag, sum(rights), len(rights))
        rows.append((tag, f"{one.value:.3f}", f"{one.lower:.2f} to {one.upper:.2f}", f"{sum(rights)} of {len(rights)}"))
    return Sheet(title=title, heads=("tag", "right", "95 % interval", "cases"), rows=tuple(rows))
