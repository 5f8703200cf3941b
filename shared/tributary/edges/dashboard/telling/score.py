"""The score of a hit, broken into its terms, as bars that are drawn on the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tributary.core import ranking


@dataclass(frozen=True, kw_only=True)
class Share:
    """An addend of a bar: the term's own `value` in 0..1 times its `weight` is what it `adds`, drawn from `start` on."""

    term: str
    means: str
    value: float | None
    weight: float | None
    adds: float
    start: float

    @property
    def width(self) -> float:
        return abs(self.adds)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """`total` is in 0..1. What is taken off lies over the end of what was added."""

    name: str
    shares: Sequence[Share]
    total: float


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """score = relevance * standing"""

    relevance: Bar
    standing: Bar
    score: float

    @property
    def bars(self) -> tuple[Bar, ...]:
        return self.relevance, self.standing


_MEANS = {
    "similarity": "how near it is in meaning to the question",
    "terms": "the share of the question's words that it holds, rare ones counting more",
    "base": "what every lesson is credited with",
    "freshness": "1 when just confirmed, half of it a half-life later",
    "confirmations": "other agents who found it true: 1 - 1/(1 + n)",
    "contradictions": "what was said against it: 1 - 1/(1 + n)",
}


def break_down(terms: Mapping[str, float], *, version: str, score: float) -> Breakdown | None:
    """Returns what a score is made of; None when another formula than this version's made it."""
    if version != ranking.VERSION or not {"similarity", "terms", "freshness", "confirmations", "contradictions"} <= terms.keys():
        return None
    relevance = _bar(
        "Relevance", [_part(terms, "similarity", ranking.SIMILARITY_WEIGHT), _part(terms, "terms", ranking.TERMS_WEIGHT)]
    )
    standing = _bar(
        "Standing",
        [
            ("base", None, None, ranking.STANDING_BASE),
            _part(terms, "freshness", ranking.FRESHNESS_WEIGHT),
            _part(terms, "confirmations", ranking.CONFIRMATIONS_WEIGHT),
            _part(terms, "contradictions", -ranking.CONTRADICTIONS_WEIGHT),
        ],
    )
    return Breakdown(relevance=relevance, standing=standing, score=score)


_Part = tuple[str, float | None, float | None, float]


def _part(terms: Mapping[str, float], term: str, weight: float) -> _Part:
    return term, terms[term], weight, weight * terms[term]


def _bar(name: str, parts: Sequence[_Part]) -> Bar:
    shares: list[Share] = []
    end = 0.0
    for term, value, weight, adds in parts:
        shares.append(Share(term=term, means=_MEANS[term], value=value, weight=weight, adds=adds, start=min(end, end + adds)))
        end += adds
    return Bar(name=name, shares=shares, total=end)
