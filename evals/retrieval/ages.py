"""The control, and what age does: hits ranked again as ranking v1 did, and as if the lessons had been confirmed at mixed times.

A tribe's lessons are not all of today, and nothing in a question says how old its answer is: a ranking that lets age outweigh
what a lesson says loses right answers. Figures are means over DRAWS draws of ages from nothing to one half-life.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast
from uuid import UUID

from evals.retrieval.measures import Figures, figures, place
from evals.retrieval.pools import Pooled
from tributary.core.confidence import half_life
from tributary.core.lesson import Lesson
from tributary.core.ranking import Found, Ranked, rank

DRAWS = 5
SEED = 7

Score = Callable[[Ranked], float]


def score_v1(one: Ranked) -> float:
    """Returns what ranking v1 gave."""
    terms = one.terms
    return 0.6 * terms["similarity"] + 0.25 * terms["freshness"] + 0.15 * terms["confirmations"] - 0.3 * terms["contradictions"]


def score_now(one: Ranked) -> float:
    return one.score


def ranked_as_new(pools: Sequence[Pooled], score: Score, *, at: datetime) -> Figures:
    """Returns how the questions fare when all lessons are as old as they are: of one day."""
    return figures([place(_order(one.pool, score, at=at), one.right) for one in pools])


def ranked_as_mixed(pools: Sequence[Pooled], ids: Sequence[UUID], score: Score, *, at: datetime) -> Figures:
    """Returns how they fare when each lesson was last confirmed at some time in the half-life before `at`."""
    places: list[int | None] = []
    for draw in range(DRAWS):
        chance = random.Random(SEED + draw)
        share = {lesson_id: chance.random() for lesson_id in ids}
        places += [place(_order(_aged(one.pool, share, at), score, at=at), one.right) for one in pools]
    return replace(figures(places), questions=len(pools))


def _aged(pool: Sequence[Found], share: dict[UUID, float], at: datetime) -> list[Found]:
    """Returns the pool with each lesson last confirmed its share of a half-life ago."""
    return [
        replace(
            one,
            lesson=replace(
                cast(Lesson, one.lesson), last_confirmed_at=at - share[one.lesson.lesson_id] * half_life(one.lesson.kind)
            ),
        )
        for one in pool
    ]


def _order(pool: Sequence[Found], score: Score, *, at: datetime) -> list[UUID]:
    ranked = sorted(rank(pool, at=at, floor=0.0, limit=len(pool)).ranked, key=score, reverse=True) if pool else []
    return [one.found.lesson.lesson_id for one in ranked]
