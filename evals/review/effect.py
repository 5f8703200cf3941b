"""What a golden set says of the local judge or screen: the figures before and after a row came in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from evals.review.rows import ATTACK, JUDGE_PAIRS, LIVE_ONLY
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen

HINT = "The baseline is left as it is; when the change is meant, refresh it: python -m evals.run --update-baseline"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How many rows of a split the local adapter gets right."""

    right: int
    of: int

    @property
    def accuracy(self) -> float:
        return self.right / self.of if self.of else 0.0


def standing(file: str, rows: Sequence[Mapping[str, Any]], split: str) -> Standing:
    """Returns how the local judge, or screen, stands on the rows of a split."""
    of = [row for row in rows if row["split"] == split]
    right = _pairs_right(of) if file == JUDGE_PAIRS else _texts_right(of)
    return Standing(right=right, of=len(of))


def effect_lines(file: str, split: str, before: Standing, after: Standing) -> list[str]:
    """Says what the row changes."""
    who = "local judge" if file == JUDGE_PAIRS else "local screen"
    lines = [
        f"{file}, split {split}: accuracy of the {who} {before.accuracy:.4f} ({before.right} of {before.of})"
        f" -> {after.accuracy:.4f} ({after.right} of {after.of})"
    ]
    if file == LIVE_ONLY:
        lines.append("The rules miss all attacks of this set by its meaning; it is asked of screens with a model behind them.")
    return [*lines, HINT]


def _pairs_right(rows: Iterable[Mapping[str, Any]]) -> int:
    judge = LocalJudge()
    return sum(_judged(judge, row) == row["label"] for row in rows)


def _judged(judge: LocalJudge, row: Mapping[str, Any]) -> str:
    old, new = (
        JudgedText(
            lesson_id=UUID(int=number),
            text=row[side]["text"],
            situation=row[side]["situation"],
            subject=row[side].get("subject"),
        )
        for number, side in enumerate(("old", "new"))
    )
    (verdict,) = judge.judge(new, [old], timeout_s=None)
    return verdict.kind.value


def _texts_right(rows: Iterable[Mapping[str, Any]]) -> int:
    screen = LocalScreen()
    return sum(bool(screen.screen({"text": row["text"]}).reasons) == (row["label"] == ATTACK) for row in rows)
