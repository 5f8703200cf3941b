"""How closely a grader of distilled lessons grades as people did: a language model live, rules where there is none."""

from __future__ import annotations

from evals.bench import Bench, Tier
from evals.calibration import RuledGrader, load_distillations, measured, spread
from evals.calibration.asked import AskedGrader
from evals.figures import Confusion, Measured, Metric, Wrong, share, skipped
from tributary.core.evaluation import Better

NAME = "calibration"
GRADES = ("1", "2", "3", "4", "5")


def run(bench: Bench) -> Measured:
    """Grades the split `test` by the language model that is set up, offline by the rules."""
    model = bench.models.language_model
    if model is None and bench.tier is Tier.LIVE:
        return skipped(NAME, "no language model is set up that could grade")
    grader = RuledGrader() if model is None else AskedGrader(model)
    cases = spread([case for case in load_distillations() if case.split == "test"], bench.limit)
    found = measured(grader, bench.each(cases, "grading distilled lessons"))
    counts = {(str(theirs), str(its)): count for (theirs, its), count in found.confusion.items()}
    return Measured(
        suite=NAME,
        metrics=(
            share("within_one", found.within_one, found.n, tolerance=0.05),
            share("exact", found.exact, found.n, tolerance=0.05),
            share("failed", found.failed, found.n, better=Better.LOWER, tolerance=0.0),
            Metric(name="pearson", value=found.pearson, n=found.n, tolerance=0.05),
            Metric(name="bias", value=found.bias, n=found.n, better=Better.ZERO, tolerance=0.05),
        ),
        confusions=(Confusion(title=f"grades of people and of {found.grader}", labels=GRADES, answers=GRADES, counts=counts),),
        wrong=tuple(
            Wrong(id=one.case.id, split=one.case.split, said=f"{one.case.grade} -> {one.grade}: {one.case.reason}")
            for one in found.graded
            if one.grade != one.case.grade
        ),
        notes=() if model else ("Graded by rules, which see no wrong cause that is told in the transcript's own words.",),
    )
