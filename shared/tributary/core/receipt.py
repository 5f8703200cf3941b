"""The receipt: what a recall searched, by which path, what it left out and why, and what that allows to be claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core import ids
from tributary.core.errors import NotComplete

WEAK_MATCH = "weak_match"
"""The rule that leaves out what nearly matched. Where it did, the search does not show that there is nothing."""
UNDECIDED = "undecided"
"""The rule that leaves out pending and disputed lessons that bear on the question. They are no answer, but not nothing."""


class Coverage(StrEnum):
    """How much of what was in scope was really looked at, best first."""

    COMPLETE = "complete"
    APPROXIMATE = "approximate"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


class Cause(StrEnum):
    """Why coverage is less than complete. Codes, never exception text."""

    APPROXIMATE_INDEX = "approximate_index"
    LESSONS_WITHOUT_VECTOR = "lessons_without_vector"
    POOL_EXHAUSTED = "pool_exhausted"
    EMBEDDER_FAILED = "embedder_failed"
    NO_SERVING_SPACE = "no_serving_space"
    TIME_BUDGET = "time_budget"
    REPLICA_BEHIND = "replica_behind"


class SearchPath(StrEnum):
    """A way in which lessons were really looked for."""

    VECTOR_EXACT = "vector:exact"
    VECTOR_HNSW = "vector:hnsw"
    TERMS = "terms"
    SUBJECT = "subject"
    LISTING = "listing"


@dataclass(frozen=True, kw_only=True)
class Searched:
    """One tribe and the moment of its clock at which it was searched."""

    tribe: UUID
    tick: int
    at: datetime
    settled: bool
    """False when the instant asked for is newer than the last commit, so that a commit under way may still fall before it."""


@dataclass(frozen=True, kw_only=True)
class ScoredHit:
    """How one hit came by its place. `terms` are the addends and factors of the score, by name.

    What a listing shows may be no lessons but disputes, decisions or the like: `prefix` tells.
    """

    lesson_id: UUID
    score: float
    similarity: float | None
    terms: Mapping[str, float]
    prefix: ids.Prefix = ids.Prefix.LESSON


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    rule: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """Self-contained record of one recall or listing; `document()` is its signed, canonical form."""

    receipt_id: UUID
    searched: tuple[Searched, ...]
    query_digest: str | None
    filters: Mapping[str, object]
    paths: tuple[SearchPath, ...]
    space: str | None
    floor: float | None
    considered: int
    excluded: tuple[Exclusion, ...]
    hits: tuple[ScoredHit, ...]
    coverage: Coverage
    causes: tuple[Cause, ...]
    ranking: str
    ms: Mapping[str, float]
    key: str = ""
    signature: str = ""

    @property
    def may_assert_absence(self) -> bool:
        """Only a complete search that found nothing, and left out nothing that nearly matched or is undecided, may support it."""
        return self.coverage is Coverage.COMPLETE and not self.hits and not self._left_out

    def assert_absence(self) -> None:
        """Raises NotComplete unless this search shows that there is nothing."""
        if self.hits:
            raise NotComplete(f"the search found {len(self.hits)} lesson(s)")
        if self.coverage is not Coverage.COMPLETE:
            raise NotComplete(f"coverage is {self.coverage} ({', '.join(self.causes)}), so nothing can be said of absence")
        if self._left_out:
            left_out = ", ".join(f"{one.rule} {one.count}" for one in self._left_out)
            raise NotComplete(f"lessons that bear on it were left out ({left_out}), so nothing can be said of absence")

    @property
    def _left_out(self) -> tuple[Exclusion, ...]:
        return tuple(one for one in self.excluded if one.rule in (WEAK_MATCH, UNDECIDED))

    def document(self) -> dict[str, object]:
        """Returns the receipt as plain JSON values, all that is signed and nothing else."""
        return {
            "id": ids.show(ids.Prefix.RECEIPT, self.receipt_id),
            "searched": [
                {"tribe": str(one.tribe), "tick": one.tick, "at": _written(one.at), "settled": one.settled}
                for one in self.searched
            ],
            "query_digest": self.query_digest,
            "filters": dict(self.filters),
            "paths": [path.value for path in self.paths],
            "space": self.space,
            "floor": self.floor,
            "considered": self.considered,
            "returned": len(self.hits),
            "excluded": [{"rule": one.rule, "count": one.count} for one in self.excluded],
            "hits": [
                {
                    "id": ids.show(hit.prefix, hit.lesson_id),
                    "score": hit.score,
                    "similarity": hit.similarity,
                    "terms": dict(hit.terms),
                }
                for hit in self.hits
            ],
            "coverage": self.coverage.value,
            "causes": [cause.value for cause in self.causes],
            "may_assert_absence": self.may_assert_absence,
            "ranking": self.ranking,
            "ms": dict(self.ms),
            "key": self.key,
        }


def _written(at: datetime) -> str:
    """Returns an instant in UTC as replies write it: what is signed is what is sent."""
    return at.isoformat().replace("+00:00", "Z")
