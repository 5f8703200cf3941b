"""verify: a receipt is replayed as of its tick, and compared with what the tribe believed then."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from tributary.core import limits
from tributary.core.agent import Principal, Role
from tributary.core.errors import InvalidRequest, ModelFailed, TributaryError, Unavailable
from tributary.core.ids import Prefix, parse
from tributary.core.lesson import How, Kind
from tributary.core.ranking import VERSION, Found
from tributary.core.receipt import Coverage, ScoredHit, SearchPath
from tributary.core.requests import Question, Require
from tributary.core.verification import (
    TOLERANCE,
    Aspect,
    Bounds,
    Difference,
    Doubt,
    Looked,
    Verification,
    compare,
    passed_over,
)
from tributary.recall.pipeline import Recaller, query_digest
from tributary.recall.search import EVERYTHING, Asked, Search, rank_pool, search
from tributary.recall.signing import Signer
from tributary.spaces import as_text
from tributary.store import may_answer_still, statement


@dataclass(frozen=True, kw_only=True)
class Said:
    """A recall's receipt, read back from its document."""

    tribe_id: UUID
    tick: int
    at: datetime
    query_digest: str | None
    question: Question
    paths: tuple[SearchPath, ...]
    space: str | None
    floor: float
    hits: tuple[ScoredHit, ...]
    coverage: Coverage
    ranking: str

    @classmethod
    def of(cls, receipt: Mapping[str, Any], query: str) -> Said:
        """Reads a receipt whose signature holds; raises InvalidRequest for one that this version cannot read."""
        try:
            listing = receipt["query_digest"] is None  # what it lists may be no lessons, or of several moments
            (searched,) = receipt["searched"][-1:] if listing else receipt["searched"]
            return cls(
                tribe_id=UUID(searched["tribe"]),
                tick=int(searched["tick"]),
                at=datetime.fromisoformat(searched["at"]),
                query_digest=receipt["query_digest"],
                question=Question(query=query) if listing else _question(receipt["filters"], query),
                paths=tuple(map(SearchPath, receipt["paths"])),
                space=receipt["space"],
                floor=float(receipt["floor"] or 0.0),
                hits=() if listing else tuple(_hit(one) for one in receipt["hits"]),
                coverage=Coverage(receipt["coverage"]),
                ranking=receipt["ranking"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRequest("receipt", "is of a form that this version cannot read") from error


@dataclass(frozen=True, kw_only=True)
class Verifier:
    """Checks receipts, also after what they name was superseded, retired or gardened away."""

    recaller: Recaller
    signer: Signer

    def verify(self, principal: Principal, receipt: Mapping[str, Any], query: str) -> Verification:
        """Replays a receipt of this tribe for the query that it answers.

        `diverges` when it is not as it was signed, answers another query, or says otherwise than is found: of the belief,
        filters, similarity (1e-3) and score of a hit, or of a better lesson that a complete search would have shown.
        `unknown` when that cannot be told, with the causes. Raises InvalidRequest for a receipt of another tribe.
        """
        principal.require(Role.READER)
        limits.check_text("query", query, max_bytes=limits.QUERY_BYTES)
        if not self.signer.signed(receipt):
            return Verification.of(differences=[Difference(aspect=Aspect.SIGNATURE)])
        said = Said.of(receipt, query)
        if said.tribe_id != principal.tribe_id:
            raise InvalidRequest("receipt", "is of another tribe")
        if self._is_lost(said):
            return Verification.of(causes=[Doubt.TICK_LOST])
        if said.query_digest is None:
            return Verification.of(causes=[Doubt.LISTING])
        if not hmac.compare_digest(said.query_digest, query_digest(query)):
            return Verification.of(
                differences=[Difference(aspect=Aspect.QUERY, said=said.query_digest, found=query_digest(query))]
            )
        if said.ranking != VERSION:
            return Verification.of(causes=[Doubt.RANKING_CHANGED])
        return self._replay(said)

    def _is_lost(self, said: Said) -> bool:
        """Tells whether the receipt is of a tick that no commit which is known here has: a restore from a backup took it back.

        A replica may only not have come to a tick that is ahead of its clock, so the writer is asked, and has the last word.
        """
        failure: TributaryError = Unavailable()
        for side in self.recaller.database.sides():
            try:
                found = side.value(statement("recall", "unreached"), {"tribe_id": said.tribe_id, "tick": said.tick})
            except TributaryError as error:
                if not may_answer_still(side, error):
                    raise
                failure = error
                continue
            if found != "ahead" or side.is_writer:
                return found is not None
        raise failure

    def _replay(self, said: Said) -> Verification:
        recaller = self.recaller
        with_vectors = any(path in said.paths for path in (SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW))
        profile = recaller.profiles.get(said.tribe_id)
        if with_vectors and profile.embedder.space.name != said.space:
            recaller.profiles.forget(said.tribe_id)  # it may have been made since the tribe went on to another space
            profile = recaller.profiles.get(said.tribe_id)
        space = profile.embedder.space
        if with_vectors and space.name != said.space:
            return Verification.of(causes=[Doubt.SPACE_RETIRED])
        try:
            embedding = as_text(profile.embedder.embed([said.question.query])[0]) if with_vectors else None
        except ModelFailed:
            return Verification.of(causes=[Doubt.EMBEDDER_FAILED])
        asked = replace(
            Asked.of(
                said.tribe_id,
                said.question,
                space_id=profile.space_id,
                embedding=embedding,
                now=recaller.now(),
                exact_limit=EVERYTHING,
                budget_ms=recaller.scan_budget_ms,
            ),
            moment=(said.tick, said.at),
        )
        looked, terms_whole = self._look(asked, said)
        weights = max(TOLERANCE, space.weights_apart)
        differences, doubts = compare(
            said.hits, looked, said.question, Bounds(weights=weights, with_vectors=with_vectors, terms_whole=terms_whole)
        )
        again = recaller.answer(asked, floor=said.floor)
        missed = passed_over(said.hits, again.ranking.ranked, said.question.limit)
        if said.coverage is Coverage.COMPLETE:
            if missed and terms_whole and Doubt.OTHER_WEIGHTS not in doubts:
                differences += [Difference(aspect=Aspect.MISSED, lesson_id=one) for one in missed]
            elif missed:
                doubts.append(Doubt.OTHER_WEIGHTS if terms_whole else Doubt.LESSON_ERASED)
            if not again.found.header["finished"]:
                doubts.append(Doubt.TIME_BUDGET)
            missed = []
        erased = [lesson_id for lesson_id, one in looked.items() if one.erased]
        return Verification.of(causes=doubts, differences=differences, erased=erased, missed=missed)

    def _look(self, asked: Asked, said: Said) -> tuple[dict[UUID, Looked], bool]:
        """Returns each hit as it is found now, as of then, and whether who held which terms then is still known."""
        ids = [hit.lesson_id for hit in said.hits]
        found = search(self.recaller.database, replace(asked, only=ids, pool=max(len(ids), 1), whole=len(ids)))
        by_id = {one.lesson.lesson_id: one for one in found.pool}
        return {one: _looked(found, by_id.get(one), one, said.floor) for one in ids}, not found.header["erased_since"]


def _looked(found: Search, seen: Found | None, lesson_id: UUID, floor: float) -> Looked:
    lesson = found.lessons.get(lesson_id)
    if lesson is None or seen is None:
        return Looked(lesson=None)
    if not lesson.text:  # only an erased lesson says nothing
        return Looked(lesson=lesson, erased=True)
    ranking = rank_pool(replace(found, pool=(seen,)), floor=floor)
    if ranking.ranked:
        return Looked(lesson=lesson, ranked=ranking.ranked[0])
    return Looked(lesson=lesson, rule=next(iter(ranking.excluded)))


def _question(filters: Mapping[str, Any], query: str) -> Question:
    """Returns the question that a receipt's filters narrowed; its moment is the receipt's."""
    return Question(
        query=query,
        limit=filters["limit"],
        kinds=tuple(map(Kind, filters["kinds"])),
        sources=tuple(map(How, filters["sources"])),
        agent=filters["agent"],
        subject=filters["subject"],
        tags=dict(filters["tags"]),
        min_confidence=filters["min_confidence"],
        include_stale=filters["include_stale"],
        require=Require(filters["require"]),
    )


def _hit(one: Mapping[str, Any]) -> ScoredHit:
    similarity = one["similarity"]
    return ScoredHit(
        lesson_id=parse(Prefix.LESSON, one["id"], field="receipt.hits"),
        score=float(one["score"]),
        similarity=None if similarity is None else float(similarity),
        terms=dict(one["terms"]),
    )
