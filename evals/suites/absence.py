"""What the incident agent's guard takes for a claim that nothing is known, over labelled sentences.

The sentences were written in four batches (ids a, b, c and d). At first sight, before any rule was changed for it, 18 of the 30
claims of b were found with 2 false alarms, 13 of 25 of c with none, and 16 of 25 of d with none. The `test` split is half of a
and of b, and all of d: no rule was changed for these, and their errors were not looked at. All are by one hand, so the share that
is found of others' wordings may be lower still.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.bench import Bench
from evals.figures import Confusion, Measured, Metric, Wrong, share, shares_by_tag
from tributary.core.evaluation import Better
from tributary.responder import absences

NAME = "absence"
CASES = Path(__file__).parents[1] / "data" / "absence_claims.jsonl"
SPLITS = ("test", "tune")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """`claims`: it says, in some wording, that nothing is known."""

    id: str
    text: str
    claims: bool
    sort: str
    split: str


@dataclass(frozen=True, kw_only=True)
class Guarded:
    sentence: Sentence
    held: bool

    @property
    def right(self) -> bool:
        return self.held is self.sentence.claims


def load_sentences(path: Path = CASES) -> list[Sentence]:
    """Returns the labelled sentences, in file order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [Sentence(id=row["id"], text=row["text"], claims=row["claims"], sort=row["sort"], split=row["split"]) for row in rows]


def run(bench: Bench) -> Measured:
    """Scores the guard by words; no model is asked, whatever the tier."""
    guarded = [Guarded(sentence=one, held=bool(absences(one.text))) for one in bench.each(load_sentences(), "guarding sentences")]
    metrics: list[Metric] = []
    confusions, sheets = [], []
    for split in SPLITS:
        of = [one for one in guarded if one.sentence.split == split]
        metrics += _metrics(split, of)
        pairs = [("claim" if one.sentence.claims else "none", "held" if one.held else "passed") for one in of]
        confusions.append(Confusion.of(f"sentences of the split {split}", ("claim", "none"), ("held", "passed"), pairs))
        tagged = [(f"{'claim' if one.sentence.claims else 'none'}/{one.sentence.sort}", one.right) for one in of]
        sheets.append(shares_by_tag(f"By sort, split {split}", tagged))
    wrong = tuple(
        Wrong(
            id=one.sentence.id,
            split=one.sentence.split,
            said=f"{'missed' if one.sentence.claims else 'held'}: {one.sentence.text!r}",
        )
        for one in guarded
        if not one.right
    )
    return Measured(suite=NAME, metrics=tuple(metrics), confusions=tuple(confusions), sheets=tuple(sheets), wrong=wrong)


def _metrics(split: str, guarded: Sequence[Guarded]) -> list[Metric]:
    claims = [one for one in guarded if one.sentence.claims]
    others = [one for one in guarded if not one.sentence.claims]
    held = [one for one in guarded if one.held]
    return [
        share(f"{split}_recall", sum(one.held for one in claims), len(claims)),
        share(f"{split}_precision", sum(one.sentence.claims for one in held), len(held)),
        share(f"{split}_false_alarms", sum(one.held for one in others), len(others), better=Better.LOWER),
    ]
