"""How closely a language model grades distilled lessons as people did: `evals.calibration`, where it is there."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from evals.bench import Bench
from evals.figures import Better, Confusion, Measured, Metric, share, skipped
from tributary.core.ports import LanguageModel

NAME = "calibration"
MODULE = "evals.calibration"
GRADES = ("1", "2", "3", "4", "5")


class Calibration(Protocol):
    """What grading came to.

    `n` cases were asked about, `failed` of them without an answer; `within_one` answers were at most one grade off. `pearson` is
    their correlation with people's grades, `bias` the mean of grader minus person; `confusion` counts (person's, grader's).
    """

    @property
    def n(self) -> int: ...

    @property
    def failed(self) -> int: ...

    @property
    def within_one(self) -> int: ...

    @property
    def pearson(self) -> float: ...

    @property
    def bias(self) -> float: ...

    @property
    def confusion(self) -> Mapping[tuple[int, int], int]: ...


class Measure(Protocol):
    def __call__(self, model: LanguageModel, /, *, limit: int | None) -> Calibration: ...


def known() -> Measure | None:
    """Returns what grades, None where it is not there."""
    return cast(Measure, import_module(MODULE).measure) if find_spec(MODULE) else None


def run(bench: Bench, measure: Measure | None) -> Measured:
    model = bench.models.language_model
    if model is None:
        return skipped(NAME, "no language model grades in this tier")
    if measure is None:
        return skipped(NAME, f"{MODULE} is not there")
    bench.progress.step("grading distilled lessons")
    found = measure(model, limit=bench.limit)
    counts = {(str(theirs), str(its)): count for (theirs, its), count in found.confusion.items()}
    return Measured(
        suite=NAME,
        metrics=(
            share("within_one", found.within_one, found.n, tolerance=0.05),
            share("failed", found.failed, found.n, better=Better.LOWER, tolerance=0.0),
            Metric(name="pearson", value=found.pearson, n=found.n, tolerance=0.05),
            Metric(name="bias", value=found.bias, n=found.n, tolerance=None),
        ),
        confusions=(Confusion(title="grades of people and of the model", labels=GRADES, answers=GRADES, counts=counts),),
    )
