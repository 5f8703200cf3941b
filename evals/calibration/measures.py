"""What two lists of grades, a grader's and people's, come to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.calibration.cases import Distillation, Grader
from tributary.core.errors import ModelFailed


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A case with a grader's answer; None when it gave none."""

    case: Distillation
    grade: int | None


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How a grader compares with people.

    `n` cases were asked about, `failed` of them without an answer; `within_one` and `exact` count answers at most one grade
    off, and right ones. `pearson` (0 when either side always says the same) and `bias`, the mean of grader minus person, are
    over the answers. `confusion` counts (person's grade, grader's grade).
    """

    grader: str
    n: int
    failed: int
    within_one: int
    exact: int
    pearson: float
    bias: float
    confusion: Mapping[tuple[int, int], int]
    graded: tuple[Graded, ...]


def measured(grader: Grader, cases: Iterable[Distillation]) -> Calibration:
    """Returns how a grader compares with people on `cases`; a case on which it fails is counted, and the others go on."""
    graded = tuple(Graded(case=case, grade=_grade(grader, case)) for case in cases)
    pairs = [(one.case.grade, one.grade) for one in graded if one.grade is not None]
    return Calibration(
        grader=grader.version,
        n=len(graded),
        failed=len(graded) - len(pairs),
        within_one=sum(abs(mine - theirs) <= 1 for theirs, mine in pairs),
        exact=sum(mine == theirs for theirs, mine in pairs),
        pearson=pearson(pairs),
        bias=sum(mine - theirs for theirs, mine in pairs) / len(pairs) if pairs else 0.0,
        confusion=Counter(pairs),
        graded=graded,
    )


def pearson(pairs: Sequence[tuple[float, float]]) -> float:
    """Returns the product-moment correlation of pairs (-1 to 1); 0 when one side does not vary."""
    if not pairs:
        return 0.0
    mean_x, mean_y = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    cross = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    spread = math.sqrt(sum((x - mean_x) ** 2 for x, _ in pairs) * sum((y - mean_y) ** 2 for _, y in pairs))
    return cross / spread if spread else 0.0


def _grade(grader: Grader, case: Distillation) -> int | None:
    try:
        return grader.grade(case)
    except ModelFailed:
        return None


def spread(cases: Sequence[Distillation], limit: int | None) -> list[Distillation]:
    """Returns `limit` of the cases, evenly over the file; all of them without a limit."""
    if limit is None or limit >= len(cases):
        return list(cases)
    return [cases[index * len(cases) // limit] for index in range(max(0, limit))]
