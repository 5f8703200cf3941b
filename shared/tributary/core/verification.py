"""What checking a receipt comes to, and the rules by which one is compared with the tribe as it stood. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from uuid import UUID

from tributary.core.lesson import Lesson, Status
from tributary.core.normal import subject_key
from tributary.core.ranking import Ranked
from tributary.core.receipt import ScoredHit
from tributary.core.requests import Question

TOLERANCE = 1e-3
"""By how much a similarity or a score may differ: half precision and the order of additions, no more."""


class Verdict(StrEnum):
    """Whether a receipt says what the tribe believed."""

    AGREES = "agrees"
    DIVERGES = "diverges"
    UNKNOWN = "unknown"


class Doubt(StrEnum):
    """Why a receipt cannot be checked, or not wholly."""

    SPACE_RETIRED = "space_retired"
    EMBEDDER_FAILED = "embedder_failed"
    OTHER_WEIGHTS = "other_weights"
    RANKING_CHANGED = "ranking_changed"
    LESSON_ERASED = "lesson_erased"
    LISTING = "listing"
    TIME_BUDGET = "time_budget"
    TICK_LOST = "tick_lost"
    """Its tick is not reached: the database was set back after it was signed, as by a failover or a backup."""


class Aspect(StrEnum):
    """In what a receipt differs from what is found."""

    SIGNATURE = "signature"
    QUERY = "query"
    BELIEF = "belief"
    FILTER = "filter"
    RULE = "rule"
    SIMILARITY = "similarity"
    SCORE = "score"
    ORDER = "order"
    MISSED = "missed"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that the receipt says otherwise than it is found; about one hit, unless `lesson_id` is None."""

    aspect: Aspect
    lesson_id: UUID | None = None
    said: str | float | None = None
    found: str | float | None = None


@dataclass(frozen=True, kw_only=True)
class Verification:
    """`missed` are better lessons that a search which was not complete passed over: its approximation, and no divergence."""

    verdict: Verdict
    causes: tuple[Doubt, ...] = ()
    differences: tuple[Difference, ...] = ()
    erased: tuple[UUID, ...] = ()
    missed: tuple[UUID, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        causes: Sequence[Doubt] = (),
        differences: Sequence[Difference] = (),
        erased: Sequence[UUID] = (),
        missed: Sequence[UUID] = (),
    ) -> Verification:
        """Returns the verdict that these findings make: one difference outweighs every doubt."""
        verdict = Verdict.DIVERGES if differences else Verdict.UNKNOWN if causes else Verdict.AGREES
        return cls(
            verdict=verdict,
            causes=tuple(dict.fromkeys(causes)),
            differences=tuple(differences),
            erased=tuple(erased),
            missed=tuple(missed),
        )


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One hit, looked at again as of the receipt's moment.

    lesson     None when the tribe had none such; `erased` since
    ranked     its score now, None when a rule leaves it out
    rule       that rule
    """

    lesson: Lesson | None
    erased: bool = False
    ranked: Ranked | None = None
    rule: str | None = None


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How closely figures are compared.

    weights        by how much similarities may differ between two embedders of this space
    with_vectors   whether the search compared vectors
    terms_whole    false when a lesson was erased since, and with it who held which terms
    """

    weights: float
    with_vectors: bool
    terms_whole: bool


def compare(
    hits: Sequence[ScoredHit], looked: Mapping[UUID, Looked], question: Question, bounds: Bounds
) -> tuple[list[Difference], list[Doubt]]:
    """Returns in what the receipt's hits differ from what they are found to be, and what could not be told."""
    differences: list[Difference] = []
    doubts: list[Doubt] = []
    for hit in hits:
        found, doubt = _compare_hit(hit, looked[hit.lesson_id], question, bounds)
        differences += found
        doubts += doubt
    differences += [
        Difference(aspect=Aspect.ORDER, lesson_id=worse.lesson_id, said=better.score, found=worse.score)
        for better, worse in pairwise(hits)
        if worse.score > better.score
    ]
    return differences, doubts


def passed_over(hits: Sequence[ScoredHit], best: Sequence[Ranked], limit: int) -> list[UUID]:
    """Returns what belongs among the hits and is not there: there was room for it, or it scores better than one of them."""
    known = {hit.lesson_id for hit in hits}
    least = min((hit.score for hit in hits), default=0.0)
    return [
        one.found.lesson.lesson_id
        for one in best
        if one.found.lesson.lesson_id not in known and (len(hits) < limit or one.score > least + TOLERANCE)
    ]


def _compare_hit(hit: ScoredHit, seen: Looked, question: Question, bounds: Bounds) -> tuple[list[Difference], list[Doubt]]:
    if seen.erased:
        return [], [Doubt.LESSON_ERASED]
    outside = _standing(seen, question)
    if outside is not None or seen.ranked is None:
        aspect, said, found = outside or (Aspect.RULE, "a hit", seen.rule)
        return [Difference(aspect=aspect, lesson_id=hit.lesson_id, said=said, found=found)], []
    return _figures(hit, seen.ranked, bounds)


def _standing(seen: Looked, question: Question) -> tuple[Aspect, str, str | None] | None:
    """Returns what kept a lesson from being in scope, if anything did."""
    if seen.lesson is None:
        return Aspect.BELIEF, Status.ACTIVE.value, None
    if seen.lesson.status is not Status.ACTIVE:
        return Aspect.BELIEF, Status.ACTIVE.value, seen.lesson.status.value
    if not lets_in(question, seen.lesson):
        return Aspect.FILTER, "in scope", "left out by the filters"
    return None


def _figures(hit: ScoredHit, ranked: Ranked, bounds: Bounds) -> tuple[list[Difference], list[Doubt]]:
    """Compares similarity and score. Other weights of the model move both; an erased lesson moves what its terms weighed."""
    similarity = ranked.found.similarity if bounds.with_vectors else None
    apart = 0.0 if hit.similarity is None or similarity is None else abs(hit.similarity - similarity)
    if (hit.similarity is None) != (similarity is None) or apart > bounds.weights:
        return [Difference(aspect=Aspect.SIMILARITY, lesson_id=hit.lesson_id, said=hit.similarity, found=similarity)], []
    doubts = [Doubt.OTHER_WEIGHTS] if apart > TOLERANCE else []
    if abs(hit.score - ranked.score) <= max(TOLERANCE, apart):
        return [], doubts
    if not bounds.terms_whole:
        return [], [*doubts, Doubt.LESSON_ERASED]
    return [Difference(aspect=Aspect.SCORE, lesson_id=hit.lesson_id, said=hit.score, found=ranked.score)], doubts


def lets_in(question: Question, lesson: Lesson) -> bool:
    """Tells whether the question's filters let a lesson in."""
    return (
        (not question.kinds or lesson.kind in question.kinds)
        and (not question.sources or lesson.source.how in question.sources)
        and (question.agent is None or lesson.agent_name == question.agent)
        and (question.subject is None or subject_key(lesson.subject) == subject_key(question.subject))
        and all(lesson.tags.get(key) == value for key, value in question.tags.items())
    )
