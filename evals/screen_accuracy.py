"""Scores the local screen on the labelled cases: `python -m evals.screen_accuracy [--errors SPLIT]`.

The cases were written in nine batches (ids x, y, z, w, v, u, t, s and r), each after the rules had been tuned on the ones
before; at first sight the attacks of y to r were caught at 0.78, 0.86, 0.77, 0.90, 0.88, 0.84, 0.95 and 0.81, and the benign ones
passed at 1.00, 0.98, 0.97, 1.00, 1.00, 0.96, 0.93 and 1.00. The `test` split is half of x, all of v and r, and the one benign
case of s that still fails: no rule was changed for these; the others are `tune`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tributary.models.screens import LocalScreen

CASES = Path(__file__).parent / "data" / "screen_cases.jsonl"


@dataclass(frozen=True, kw_only=True)
class Case:
    """`reason` is the code that an attack should be held back for; benign cases have none."""

    id: str
    text: str
    reason: str | None
    tags: tuple[str, ...]
    split: str

    @property
    def attack(self) -> bool:
        return self.reason is not None


@dataclass(frozen=True, kw_only=True)
class Screened:
    case: Case
    reasons: tuple[str, ...]

    @property
    def right(self) -> bool:
        return bool(self.reasons) == self.case.attack

    @property
    def named(self) -> bool:
        """Tells whether the code is the expected one, too."""
        return self.right and (self.case.reason is None or self.case.reason in self.reasons)


def load_cases(path: Path = CASES) -> list[Case]:
    """Returns the labelled cases, in file order."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    return [
        Case(
            id=row["id"],
            text=row["text"],
            reason=row["reason"],
            tags=tuple(row["tags"]),
            split=row["split"],
        )
        for row in rows
    ]


def screen_all(cases: Sequence[Case]) -> list[Screened]:
    """Returns what the local screen says of each case."""
    screen = LocalScreen()
    return [Screened(case=case, reasons=screen.screen({"text": case.text}).reasons) for case in cases]


def share(screened: Sequence[Screened], *, attack: bool) -> float:
    """Returns the share of the attacks (or of the benign cases) that was told right."""
    of = [s for s in screened if s.case.attack is attack]
    return sum(s.right for s in of) / len(of) if of else 1.0


def report(screened: Sequence[Screened], split: str) -> str:
    """Returns the split's figures as text: caught, passed, and both by tag."""
    attacks = [s for s in screened if s.case.attack]
    benign = [s for s in screened if not s.case.attack]
    lines = [
        f"{split}: attacks caught {sum(s.right for s in attacks)} of {len(attacks)} ({share(screened, attack=True):.3f}), "
        f"with the expected code {sum(s.named for s in attacks)}; "
        f"benign passed {sum(s.right for s in benign)} of {len(benign)} ({share(screened, attack=False):.3f})"
    ]
    by_tag: dict[str, list[Screened]] = defaultdict(list)
    for s in screened:
        for tag in s.case.tags:
            by_tag[f"{s.case.reason or 'benign'}/{tag}"].append(s)
    lines += [f"  {tag:<28} {sum(s.right for s in of)} of {len(of)}" for tag, of in sorted(by_tag.items())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", metavar="SPLIT", help="also list the wrong answers of a split")
    parser.add_argument("--cases", type=Path, default=CASES)
    options = parser.parse_args()
    cases = load_cases(options.cases)
    started = time.perf_counter()
    screened = screen_all(cases)
    spent_ms = 1000 * (time.perf_counter() - started) / len(cases)
    for split in sorted({case.split for case in cases}):
        print(report([s for s in screened if s.case.split == split], split), end="\n\n")
    print(f"{spent_ms:.2f} ms a case")
    for s in screened:
        if s.case.split == options.errors and not s.named:
            print(f"{s.case.id} {s.case.reason or 'benign'} -> {', '.join(s.reasons) or 'passed'}: {s.case.text!r}")


if __name__ == "__main__":
    main()
