"""One search in the database: what is asked of it, and what comes back, read only as far as it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Kind, Lesson, Status
from tributary.core.normal import subject_key
from tributary.core.ranking import Found, Ranking, rank
from tributary.core.receipt import SearchPath
from tributary.core.requests import Question
from tributary.core.terms import COMMON_FROM, RARE_TERMS, terms_of
from tributary.recall.freshness import Answer, ask
from tributary.recall.moments import tick_and_instant
from tributary.store import Reading, rows, statement

QUERY_TERMS = 64
SMALLEST_POOL = 50
EVERYTHING = 2**62
"""As the exact limit: no tribe has outgrown it, so each lesson in scope is compared."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question on its way to the database.

    moment     (tick, instant): (None, None) for now; both, for a tick whose rules of time are judged at that instant
    pool       how many lessons to rank
    whole      how many of them, best fused first, come with all that they say
    """

    tribe_id: UUID
    question: Question
    space_id: int
    embedding: str | None
    moment: tuple[int | None, datetime | None]
    now: datetime
    pool: int
    whole: int
    exact_limit: int
    budget_ms: int
    only: Sequence[UUID] | None = None

    @classmethod
    def of(
        cls,
        tribe_id: UUID,
        question: Question,
        *,
        space_id: int,
        embedding: str | None,
        now: datetime,
        exact_limit: int,
        budget_ms: int,
    ) -> Asked:
        """Returns the question as its caller asks it, with the pool that its limit wants."""
        return cls(
            tribe_id=tribe_id,
            question=question,
            space_id=space_id,
            embedding=embedding,
            moment=tick_and_instant(question.as_of),
            now=now,
            pool=max(4 * question.limit, SMALLEST_POOL),
            whole=2 * question.limit,
            exact_limit=exact_limit,
            budget_ms=budget_ms,
        )

    def parameters(self) -> dict[str, object]:
        tick, instant = self.moment
        return {
            "tribe_id": self.tribe_id,
            "space_id": self.space_id,
            "embedding": self.embedding,
            "terms": query_terms(self.question),
            "query_subject": subject_key(self.question.query),
            "filters": _filters(self.question),
            "pool": self.pool,
            "whole": self.whole,
            "tick": tick,
            "instant": instant,
            "now": self.now,
            "rare": RARE_TERMS,
            "cap": COMMON_FROM,
            "exact_limit": self.exact_limit,
            "budget_ms": self.budget_ms,
            "only": None if self.only is None else list(self.only),
        }


class Standing(NamedTuple):
    """What ranking goes by of a lesson, as it stood at the moment of the search."""

    lesson_id: UUID
    kind: Kind
    confidence: float
    confirmations: int
    contradictions: int
    last_confirmed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class Search:
    """How the database searched, the pool that it found, best fused first, and those of it that came whole."""

    asked: Asked
    answer: Answer
    header: rows.Document
    pool: tuple[Found, ...]
    lessons: dict[UUID, Lesson]

    @property
    def tick(self) -> int:
        return cast(int, self.header["tick"])

    @property
    def at(self) -> datetime:
        return rows.moment(self.header["at"])

    @property
    def path(self) -> SearchPath | None:
        """How vectors were searched; None when they were not."""
        return None if self.header["path"] is None else SearchPath(self.header["path"])

    @property
    def considered(self) -> int:
        return cast(int, self.header["considered"])

    @property
    def scope_and_vectors(self) -> tuple[int, int]:
        """Returns how many lessons were in scope and how many have vectors, by counters where not each was looked at."""
        held = self.header["held"]
        if held is None:
            return self.header["in_scope"], self.header["with_vector"]
        return held["lessons"], held["vectors"] or 0


def search(database: Reading, asked: Asked) -> Search:
    """Asks in one round trip, a replica first where there is one.

    Raises InvalidRequest for a moment yet to come or an agent that the tribe does not have, and what `freshness.ask` raises.
    """
    answer = ask(database, statement("recall", "recall"), asked.parameters(), at_least=asked.question.at_least)
    return _read(asked, answer)


def _read(asked: Asked, answer: Answer) -> Search:
    records = answer.records
    header = records[0]["header"]
    if asked.question.agent is not None and header["agent"] is None:
        raise InvalidRequest("agent", f"there is no agent named '{asked.question.agent}' in this tribe")
    lessons = [rows.lesson(one) for one in records[1:]]
    return Search(
        asked=asked,
        answer=answer,
        header=header,
        pool=_pool(records[0]),
        lessons={lesson.lesson_id: lesson for lesson in lessons},
    )


def rank_pool(found: Search, *, floor: float) -> Ranking:
    """Returns the ranking of a search's pool under the question's own rules, at the instant that it is about."""
    question = found.asked.question
    return rank(
        found.pool,
        at=found.at,
        floor=floor,
        limit=question.limit,
        min_confidence=question.min_confidence,
        include_stale=question.include_stale,
    )


def whole_lessons(found: Search, wanted: Sequence[UUID]) -> dict[UUID, Lesson]:
    """Returns these lessons of the pool with all that they say; one more round trip when some of them did not come whole."""
    missing = [one for one in wanted if one not in found.lessons]
    if not missing:
        return found.lessons
    again = replace(
        found.asked, moment=(found.tick, found.at), only=missing, pool=len(missing), whole=len(missing), embedding=None
    )
    side = found.answer.side
    records = side.records(statement("recall", "recall"), again.parameters())
    return found.lessons | _read(again, Answer(records=records, side=side)).lessons


def undecided(found: Search, *, nearer: float) -> int:
    """Returns how many pending or disputed lessons bear on the question: within a cosine distance, or by a rare term."""
    asked = found.asked
    present = asked.moment == (None, None)
    if present and not any(found.header["statuses"].get(one.value) for one in (Status.PENDING, Status.DISPUTED)):
        return 0
    parameters = {
        "tribe_id": asked.tribe_id,
        "space_id": asked.space_id,
        "embedding": asked.embedding,
        "terms": query_terms(asked.question),
        "nearer": nearer,
        "cap": COMMON_FROM,
        "tick": found.tick,
        "present": present,
    }
    return cast(int, found.answer.side.value(statement("recall", "undecided"), parameters))


def query_terms(question: Question) -> list[str]:
    return list(terms_of(question.query)[:QUERY_TERMS])


def _filters(question: Question) -> Jsonb | None:
    given = {
        "kinds": [kind.value for kind in question.kinds] or None,
        "hows": [how.value for how in question.sources] or None,
        "agent": question.agent,
        "subject_key": subject_key(question.subject),
        "tags": dict(question.tags),
    }
    return Jsonb(given) if any(given.values()) else None


def _pool(record: dict[str, Any]) -> tuple[Found, ...]:
    header = record["header"]
    whole = header["term_weight"]
    return tuple(
        Found(
            lesson=Standing(standing[0], Kind(standing[1]), *standing[2:]),
            similarity=rows.similarity(distance),
            term_share=weight / whole if whole else 0.0,
            subject_matches=subject_matches,
            challenges=rows.challenges(header["challenges"], standing[0]),
        )
        for standing, distance, weight, subject_matches in zip(
            zip(*(record[name] or () for name in _STANDING), strict=True),
            *(record[name] or () for name in ("distances", "weights", "subject_matches")),
            strict=True,
        )
    )


_STANDING = (
    "pool",
    "kinds",
    "confidences",
    "confirmed",
    "contradicted",
    "confirmed_at",
    "valid_from_each",
    "valid_until_each",
)
"""The columns of `recalled` that a Standing is made of, in its order."""
