"""What another floor would do: higher ones leave more questions without an answer, those that have one included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evals.retrieval.measures import Figures, figures, place
from evals.retrieval.pools import Pooled
from evals.retrieval.questions import Set
from tributary.core.ranking import Ranking, rank

STEPS = (0.0, 0.02, 0.05, 0.1)
"""How far above the space's own floor is looked; under it recall shows nothing to look at."""


@dataclass(frozen=True, kw_only=True)
class Floored:
    """`answerable`: figures of the questions that have an answer. Shares of questions that come back empty, by kind."""

    floor: float
    split: str
    answerable: Figures
    empty: dict[str, float]


def floored(pools: Sequence[Pooled], *, split: str, floor: float, at: datetime) -> list[Floored]:
    """Returns what each step above `floor` would do to the questions of one split."""
    of = [one for one in pools if one.asked.split == split]
    return [_floored(of, split, round(floor + step, 2), at) for step in STEPS]


def _floored(of: Sequence[Pooled], split: str, floor: float, at: datetime) -> Floored:
    places: list[int | None] = []
    empty: dict[str, list[bool]] = {}
    for one in of:
        ranking = _ranking(one, floor, at)
        empty.setdefault(one.asked.kind, []).append(not ranking.ranked)
        if one.asked.set is Set.ANSWERABLE:
            places.append(place([ranked.found.lesson.lesson_id for ranked in ranking.ranked], one.right))
    return Floored(
        floor=floor,
        split=split,
        answerable=figures(places),
        empty={kind: sum(of_kind) / len(of_kind) for kind, of_kind in empty.items()},
    )


def _ranking(one: Pooled, floor: float, at: datetime) -> Ranking:
    return rank(one.pool, at=at, floor=floor, limit=max(1, len(one.pool)))
