"""What a recall finds for a question, far beyond what it would show: to be ranked again under other assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from evals.retrieval.library import Library
from evals.retrieval.questions import Asked
from tributary.core.limits import RECALL_LIMIT
from tributary.core.ranking import Found
from tributary.core.requests import Hit


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """A question, the lessons that answer it (none where nothing does), and what was found above the floor."""

    asked: Asked
    right: frozenset[UUID]
    pool: tuple[Found, ...]


def pooled(library: Library, asked: Sequence[Asked]) -> list[Pooled]:
    """Recalls as many lessons for each question as a recall may."""
    return [
        Pooled(
            asked=one,
            right=library.ids_of(one.right),
            pool=tuple(_found(hit) for hit in library.recall(one.question, limit=RECALL_LIMIT).hits),
        )
        for one in asked
    ]


def _found(hit: Hit) -> Found:
    return Found(
        lesson=hit.lesson,
        similarity=hit.terms["similarity"],
        term_share=hit.terms["terms"],
        subject_matches=False,  # the runbooks' lessons have no subject
        challenges=hit.challenges,
    )
