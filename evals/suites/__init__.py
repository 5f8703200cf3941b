"""The suites by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evals.bench import Bench
from evals.figures import Measured
from evals.suites import absence, calibration, classification, coverage, end_to_end, redteam, retrieval, tiering, tool_discipline

Suite = Callable[[Bench], Measured]
SUITES: Mapping[str, Suite] = {
    classification.NAME: classification.run,
    redteam.NAME: redteam.run,
    absence.NAME: absence.run,
    tool_discipline.NAME: tool_discipline.run,
    coverage.NAME: coverage.run,
    end_to_end.NAME: end_to_end.run,
    retrieval.NAME: retrieval.run,
    calibration.NAME: calibration.run,
    tiering.NAME: tiering.run,
}

__all__ = ["SUITES", "Suite"]
