"""What is said of a search: recall@5 and mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

DEPTH = 10
"""How far down a list is looked at; a right answer further down counts as none."""
FIRST = 5


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Over a set of questions. `recall`: share that got a right answer among the first FIRST; `mrr`: see `figures`."""

    questions: int
    recall: float
    mrr: float

    def beats(self, other: Figures) -> bool:
        return self.recall > other.recall and self.mrr > other.mrr


def place(found: Sequence[UUID], right: Collection[UUID]) -> int | None:
    """Returns where the first right answer stands, from 1, or None when it is not among the first DEPTH."""
    return next((number for number, one in enumerate(found[:DEPTH], 1) if one in right), None)


def figures(places: Sequence[int | None]) -> Figures:
    """Returns what the places of the first right answers amount to; an answer at place n adds 1/n to the mean, none adds 0."""
    count = len(places)
    return Figures(
        questions=count,
        recall=sum(one is not None and one <= FIRST for one in places) / count if count else 0.0,
        mrr=sum(1 / one for one in places if one is not None) / count if count else 0.0,
    )
