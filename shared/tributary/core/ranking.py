"""Ranking v2: the same pool and the same instant always give the same order.

    score     = relevance * standing                                                        in 0..1
    relevance = 0.6 similarity + 0.4 terms
    standing  = 0.6 + 0.3 freshness + 0.1 saturation(confirmations) - 0.3 saturation(contradictions)
    saturation(n) = 1 - 1 / (1 + n)

`terms` is the share of the query's terms, weighted by rarity, that a lesson holds. Each figure follows from the lesson, the
query and the tick alone, so that one hit can be verified without the rest of the pool. The weights were measured:
docs/decisions/0009-ranking-v2.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tributary.core.confidence import Beginning, Fading, expired, freshness, not_yet_valid, shown_confidence, withered
from tributary.core.decision import Challenge
from tributary.core.receipt import WEAK_MATCH

VERSION = "v2"
TERM_SHARE = 0.5
"""A hit under the similarity floor is kept when it holds at least this share of the query's terms, weighted by rarity."""
OVERTAKING = ("expired", "withered", "not_yet_valid", "below_confidence")
"""Rules that exclude lessons however near they are."""
WEAK_TERM_SHARE = 0.25
WEAK_MARGIN = 0.05
"""What stays out but comes this near to the floor, or holds this share of the query's terms, is counted as a weak match."""
SIMILARITY_WEIGHT, TERMS_WEIGHT = 0.6, 0.4
STANDING_BASE = 0.6
FRESHNESS_WEIGHT, CONFIRMATIONS_WEIGHT, CONTRADICTIONS_WEIGHT = 0.3, 0.1, 0.3
"""The weights of the formula above; that of contradictions is taken off."""
DIGITS = 6
"""Figures in hits and receipts are rounded, so that their JSON is the same wherever it is written."""


class Rankable(Fading, Beginning, Protocol):
    """The part of a lesson that ranking goes by."""

    @property
    def lesson_id(self) -> UUID: ...


@dataclass(frozen=True, kw_only=True)
class Found:
    """A lesson that a side of the search brought in.

    similarity    cosine similarity to the query in -1..1, None without a vector in the space
    term_share    share of the query's terms that it holds, weighted by rarity, 0..1
    """

    lesson: Rankable
    similarity: float | None
    term_share: float
    subject_matches: bool
    challenges: tuple[Challenge, ...]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    found: Found
    score: float
    confidence: float
    terms: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    ranked: tuple[Ranked, ...]
    excluded: Counter[str]


def saturation(count: int) -> float:
    return 1 - 1 / (1 + count)


def rank(
    pool: Sequence[Found],
    *,
    at: datetime,
    floor: float,
    limit: int,
    min_confidence: float = 0.0,
    include_stale: bool = False,
) -> Ranking:
    """Returns the best `limit` of the pool, best first, and how many each rule left out.

    Of equal scores the one in better standing comes first, then the newer lesson.
    """
    excluded: Counter[str] = Counter()
    kept: list[Ranked] = []
    for found in pool:
        scored = _score(found, at=at)
        rule = _exclusion(found, scored, at=at, floor=floor, min_confidence=min_confidence, include_stale=include_stale)
        if rule is None:
            kept.append(scored)
        else:
            excluded[rule] += 1
    kept.sort(key=lambda one: (one.score, _standing(one.terms), one.found.lesson.lesson_id), reverse=True)
    if len(kept) > limit:
        excluded["over_limit"] = len(kept) - limit
    return Ranking(ranked=tuple(kept[:limit]), excluded=excluded)


def _score(found: Found, *, at: datetime) -> Ranked:
    lesson = found.lesson
    terms = {
        "similarity": round(max(0.0, found.similarity or 0.0), DIGITS),
        "terms": round(found.term_share, DIGITS),
        "freshness": round(freshness(lesson, at=at), DIGITS),
        "confirmations": round(saturation(lesson.confirmations), DIGITS),
        "contradictions": round(saturation(lesson.contradictions), DIGITS),
    }
    relevance = SIMILARITY_WEIGHT * terms["similarity"] + TERMS_WEIGHT * terms["terms"]
    return Ranked(
        found=found,
        score=round(relevance * _standing(terms), DIGITS),
        confidence=round(shown_confidence(lesson, at=at), DIGITS),
        terms=terms,
    )


def _standing(terms: Mapping[str, float]) -> float:
    """Returns 0.3..1: how much of its relevance a lesson is credited with, by age and by what agents said of it."""
    return (
        STANDING_BASE
        + FRESHNESS_WEIGHT * terms["freshness"]
        + CONFIRMATIONS_WEIGHT * terms["confirmations"]
        - CONTRADICTIONS_WEIGHT * terms["contradictions"]
    )


def _exclusion(
    found: Found, scored: Ranked, *, at: datetime, floor: float, min_confidence: float, include_stale: bool
) -> str | None:
    lesson = found.lesson
    if not include_stale:
        if expired(lesson, at=at):
            return "expired"
        if withered(lesson, at=at):
            return "withered"
        if not_yet_valid(lesson, at=at):
            return "not_yet_valid"
    if scored.confidence < min_confidence:
        return "below_confidence"
    near = found.similarity is not None and found.similarity >= floor
    if near or found.subject_matches or found.term_share >= TERM_SHARE:
        return None
    nearly = found.similarity is not None and found.similarity >= floor - WEAK_MARGIN
    return WEAK_MATCH if nearly or found.term_share >= WEAK_TERM_SHARE else "below_floor"
