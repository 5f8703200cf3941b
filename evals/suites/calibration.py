"""How closely a language model grades distilled lessons as people did: `evals.calibration`, where it is there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from evals.bench import Bench
from evals.figures import Measured, Metric, share, skipped
from tributary.core.ports import LanguageModel

NAME = "calibration"
MODULE = "evals.calibration"


class Calibration(Protocol):
    """What grading came to: `n` gradings, how many were within one of the people's, their correlation, the mean excess."""

    @property
    def n(self) -> int: ...

    @property
    def within_one(self) -> int: ...

    @property
    def pearson(self) -> float: ...

    @property
    def bias(self) -> float: ...


class Measure(Protocol):
    def __call__(self, model: LanguageModel, *, limit: int | None) -> Calibration: ...


def run(bench: Bench) -> Measured:
    model = bench.models.language_model
    if model is None:
        return skipped(NAME, "no language model grades in this tier")
    if find_spec(MODULE) is None:
        return skipped(NAME, f"{MODULE} is not there")
    bench.progress.step("grading distilled lessons")
    found = cast(Measure, import_module(MODULE).measure)(model, limit=bench.limit)
    return Measured(
        suite=NAME,
        metrics=(
            share("within_one", found.within_one, found.n, tolerance=0.05),
            Metric(name="pearson", value=found.pearson, n=found.n, tolerance=0.05),
            Metric(name="bias", value=found.bias, n=found.n, tolerance=None),
        ),
    )
