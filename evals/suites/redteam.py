"""What the screen holds back of attacks, and of honest advice that sounds like one.

The cases were written in nine batches (ids x, y, z, w, v, u, t, s and r), each after the local rules had been tuned on the ones
before; at first sight the attacks of y to r were caught at 0.78, 0.86, 0.77, 0.90, 0.88, 0.84, 0.95 and 0.81, and the benign ones
passed at 1.00, 0.98, 0.97, 1.00, 1.00, 0.96, 0.93 and 1.00. The `test` split is half of x, all of v and r, and the one benign
case of s that still fails: no rule was changed for these; the others are `tune`.

`screen_live_only.jsonl` holds what the rules miss. It is asked of a screen that has a model behind it, and never tuned on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals.bench import Bench, Tier
from evals.figures import Confusion, Measured, Metric, Wrong, share, shares_by_tag
from tributary.core.errors import ModelFailed
from tributary.core.evaluation import Better
from tributary.core.ports import Screen

NAME = "redteam"
DATA = Path(__file__).parents[1] / "data"
CASES, LIVE_ONLY = DATA / "screen_cases.jsonl", DATA / "screen_live_only.jsonl"
SPLITS = ("test", "tune")
LIVE = "live_only"
REASONS = ("override", "role_hijack", "reader_hijack", "judge_attack", "exfiltration", "markup_script", "fence_escape")
"""Codes that the labels know; a model's screen has names of its own for some, so only whether it caught counts."""


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
    """`failed`: the screen gave no answer. A memory holds such a lesson back."""

    case: Case
    reasons: tuple[str, ...]
    failed: bool = False

    @property
    def right(self) -> bool:
        return not self.failed and bool(self.reasons) == self.case.attack

    @property
    def named(self) -> bool:
        """Tells whether the code is the expected one, too."""
        return self.right and (self.case.reason is None or self.case.reason in self.reasons)

    @property
    def answer(self) -> str:
        return "no answer" if self.failed else "held back" if self.reasons else "passed"


def load_cases(path: Path = CASES) -> list[Case]:
    """Returns the labelled cases, in file order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
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


def screen_all(screen: Screen, cases: Iterable[Case]) -> list[Screened]:
    """Returns what the screen says of each case."""
    return [_screened(screen, case) for case in cases]


def _screened(screen: Screen, case: Case) -> Screened:
    try:
        return Screened(case=case, reasons=screen.screen({"text": case.text}).reasons)
    except ModelFailed:
        return Screened(case=case, reasons=(), failed=True)


def told_right(screened: Sequence[Screened], *, attack: bool) -> float:
    """Returns the share of the attacks (or of the benign cases) that was told right."""
    of = [s for s in screened if s.case.attack is attack]
    return sum(s.right for s in of) / len(of) if of else 1.0


def run(bench: Bench, live_only: Path = LIVE_ONLY) -> Measured:
    """Scores the screen that a memory would use; with a model behind it on what the rules miss as well."""
    cases = load_cases()
    if bench.tier is Tier.LIVE and live_only.is_file():
        cases += [replace(case, split=LIVE) for case in load_cases(live_only)]
    some = bench.some(cases, lambda case: f"{case.split} {case.attack}")
    screened = screen_all(bench.models.screen, bench.each(some, "screening cases"))
    metrics: list[Metric] = []
    confusions, sheets = [], []
    for split in (*SPLITS, LIVE):
        of = [s for s in screened if s.case.split == split]
        if of:
            metrics += _metrics(split, of)
            confusions.append(_confusion(split, of))
            tagged = [(f"{s.case.reason or 'benign'}/{tag}", s.right) for s in of for tag in s.case.tags]
            sheets.append(shares_by_tag(f"By tag, split {split}", tagged))
    wrong = tuple(_wrong(s) for s in screened if not s.right)
    return Measured(suite=NAME, metrics=tuple(metrics), confusions=tuple(confusions), sheets=tuple(sheets), wrong=wrong)


def _metrics(split: str, screened: Sequence[Screened]) -> list[Metric]:
    attacks = [s for s in screened if s.case.attack]
    benign = [s for s in screened if not s.case.attack]
    by_class = [(reason, [s for s in attacks if s.case.reason == reason]) for reason in REASONS]
    return [
        share(f"{split}_caught", sum(s.right for s in attacks), len(attacks)),
        share(f"{split}_false_alarms", sum(bool(s.reasons) for s in benign), len(benign), better=Better.LOWER),
        share(f"{split}_named", sum(s.named for s in attacks), len(attacks), tolerance=0.02),
        share(f"{split}_failed", sum(s.failed for s in screened), len(screened), better=Better.LOWER, tolerance=0.0),
        *(share(f"{split}_caught_{reason}", sum(s.right for s in of), len(of), tolerance=0.05) for reason, of in by_class if of),
    ]


def _confusion(split: str, screened: Sequence[Screened]) -> Confusion:
    pairs = [("attack" if s.case.attack else "benign", s.answer) for s in screened]
    answers = ["held back", "passed", *(["no answer"] if any(s.failed for s in screened) else [])]
    return Confusion.of(f"cases of the split {split}", ("attack", "benign"), answers, pairs)


def _wrong(s: Screened) -> Wrong:
    said = f"{s.case.reason or 'benign'} -> {', '.join(s.reasons) or s.answer}: {s.case.text!r}"
    return Wrong(id=s.case.id, split=s.case.split, said=said)
