"""What figures may not fall below: `baseline.json`, and the comparison of a run with it.

A metric that is worse than its value by more than its tolerance fails, and so does one that is missing, or was measured on fewer
cases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from evals.figures import Measured, Metric
from tributary.core.evaluation import Better

FILE = Path(__file__).parent / "baseline.json"
DIGITS = 4
_ROUNDING = 10.0**-DIGITS
"""Values are kept with so many digits, so a difference under it is none."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    value: float
    tolerance: float
    direction: Better
    n: int


class Standing(StrEnum):
    HELD = "held"
    IMPROVED = "improved"
    NEW = "new"
    NOT_MEASURED = "not measured"
    FELL = "fell"
    MISSING = "missing"
    FEWER = "fewer cases"

    @property
    def fails(self) -> bool:
        return self in (Standing.FELL, Standing.MISSING, Standing.FEWER)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One metric of a suite beside its baseline; `why` is given where it was not measured."""

    name: str
    standing: Standing
    expected: Expected | None
    found: Metric | None
    why: str = ""


Baseline = Mapping[str, Mapping[str, Expected]]
"""By suite and metric."""


def read(file: Path = FILE) -> Baseline:
    """Returns the baseline; an absent file is an empty one, in which every metric is new."""
    document = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {suite: {name: _expected(one) for name, one in metrics.items()} for suite, metrics in document.items()}


def write(baseline: Baseline, file: Path = FILE) -> None:
    document = {
        suite: {
            name: {"value": one.value, "tolerance": one.tolerance, "direction": one.direction.value, "n": one.n}
            for name, one in metrics.items()
        }
        for suite, metrics in baseline.items()
    }
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def updated(baseline: Baseline, measured: Sequence[Measured]) -> Baseline:
    """Returns the baseline with what was measured in the place of what those suites had.

    Tolerances that stand in the file are kept, and so is what could not be measured here.
    """
    changed = dict(baseline)
    for one in measured:
        before = baseline.get(one.suite, {})
        kept = {name: of for name, of in before.items() if _unmeasured(one, name) is not None}
        found = {metric.name: _baseline_of(metric, before.get(metric.name)) for metric in one.metrics if watched(metric)}
        if kept or found:
            changed[one.suite] = kept | found
        else:
            changed.pop(one.suite, None)
    return changed


def watched(metric: Metric) -> bool:
    return metric.tolerance is not None


def compare(baseline: Baseline, measured: Sequence[Measured]) -> list[Compared]:
    """Returns each watched metric of the suites that ran beside its baseline, in the order of the run."""
    compared: list[Compared] = []
    for one in measured:
        expected = baseline.get(one.suite, {})
        metrics = {metric.name: metric for metric in one.metrics if watched(metric)}
        names = dict.fromkeys([*metrics, *expected])
        compared += [_compared(one, name, expected.get(name), metrics.get(name)) for name in names]
    return compared


def _compared(measured: Measured, name: str, expected: Expected | None, found: Metric | None) -> Compared:
    full = f"{measured.suite}.{name}"
    if found is None:
        why = _unmeasured(measured, name)
        standing = Standing.MISSING if why is None else Standing.NOT_MEASURED
        return Compared(name=full, standing=standing, expected=expected, found=None, why=why or "")
    if expected is None:
        return Compared(name=full, standing=Standing.NEW, expected=None, found=found)
    return Compared(name=full, standing=_standing(expected, found), expected=expected, found=found)


def _standing(expected: Expected, found: Metric) -> Standing:
    gain = _worth(expected.direction, found.value) - _worth(expected.direction, expected.value)
    if gain < -(expected.tolerance + _ROUNDING):
        return Standing.FELL
    if found.n < expected.n:
        return Standing.FEWER
    return Standing.IMPROVED if gain > _ROUNDING else Standing.HELD


def _worth(direction: Better, value: float) -> float:
    """Returns a figure that is higher the better `value` is."""
    return {Better.HIGHER: value, Better.LOWER: -value, Better.ZERO: -abs(value)}[direction]


def _unmeasured(measured: Measured, name: str) -> str | None:
    return next((why for prefix, why in measured.not_measured.items() if name.startswith(prefix)), None)


def _baseline_of(metric: Metric, before: Expected | None) -> Expected:
    assert metric.tolerance is not None
    return Expected(
        value=round(metric.value, DIGITS),
        tolerance=before.tolerance if before else metric.tolerance,
        direction=metric.better,
        n=metric.n,
    )


def _expected(row: Mapping[str, object]) -> Expected:
    value, tolerance, n = row["value"], row["tolerance"], row["n"]
    assert isinstance(value, int | float)
    assert isinstance(tolerance, int | float)
    assert isinstance(n, int)
    return Expected(value=value, tolerance=tolerance, direction=Better(str(row["direction"])), n=n)
