"""Compares the grader by rules with people: `python -m evals.calibration [--errors SPLIT]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from evals.calibration.cases import CASES, SPLITS, load_distillations
from evals.calibration.measures import measured, report
from evals.calibration.ruled import RuledGrader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--errors", metavar="SPLIT", choices=SPLITS, help="also list the cases of a split that are graded otherwise"
    )
    parser.add_argument("--cases", type=Path, default=CASES)
    options = parser.parse_args()
    cases = load_distillations(options.cases)
    for split in SPLITS:
        found = measured(RuledGrader(), [case for case in cases if case.split == split])
        print(report(found, split), end="\n\n")
        if split == options.errors:
            for one in found.graded:
                if one.grade != one.case.grade:
                    print(f"{one.case.id} {one.case.grade} -> {one.grade}: {one.case.reason}")


if __name__ == "__main__":
    main()
