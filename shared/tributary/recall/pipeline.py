"""The pipeline of a recall, step by step. It reads in one round trip, from one snapshot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, cast

from psycopg.types.json import Jsonb

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.coverage import Observed, coverage_of
from tributary.core.errors import InvalidRequest, ModelFailed, Unavailable
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Kind, Status
from tributary.core.normal import subject_key
from tributary.core.ports import Embedder, SpaceDefinition
from tributary.core.ranking import DIGITS, OVERTAKING, VERSION, WEAK_MARGIN, Found, Ranked, Ranking, rank
from tributary.core.receipt import UNDECIDED, Exclusion, Receipt, ScoredHit, Searched, SearchPath
from tributary.core.requests import Hit, Question, Recalled, Require
from tributary.core.terms import COMMON_FROM, RARE_TERMS, terms_of
from tributary.recall.moments import tick_and_instant
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.spaces import EXACT_LIMIT, Profiles, TribeProfile, as_text
from tributary.store import Database, rows, statement
from tributary.telemetry import Event, log

SMALLEST_POOL = 50
LARGEST_POOL = 5000
WIDER = 10
"""A search whose pool was emptied by rules of time or confidence is made again with a pool so many times as large."""
QUERY_TERMS = 64
LABELS = {Kind.REJECTED_HYPOTHESIS: "tried, did not help"}


@dataclass(frozen=True, kw_only=True)
class Search:
    """What the database gave: how it searched, and the pool that it found."""

    header: rows.Document
    pool: tuple[Found, ...]

    @classmethod
    def of(cls, records: list[dict[str, Any]]) -> Search:
        """Reads the rows of `recall_v1`: the header alone in the first, a lesson in each other."""
        header = records[0]["header"]
        return cls(header=header, pool=tuple(_found(one, header) for one in records[1:]))


def _found(record: rows.Document, header: rows.Document) -> Found:
    whole = header["term_weight"]
    return Found(
        lesson=rows.lesson(record),
        similarity=rows.similarity(record["cosine_distance"]),
        term_share=record["term_weight"] / whole if whole else 0.0,
        subject_matches=record["subject_matches"],
        challenges=rows.challenges(header["challenges"], record["lesson_id"]),
    )


class _Moved(Exception):
    """The tribe serves from another space than it was known to."""


@dataclass(frozen=True, kw_only=True)
class Recaller:
    """Answers questions from what the tribe believes, or believed."""

    database: Database
    profiles: Profiles
    signer: Signer
    now: Now = utc_now
    exact_limit: int = EXACT_LIMIT

    def recall(self, principal: Principal, question: Question) -> Recalled:
        """Returns the best lessons with a receipt of how they were found.

        When the query cannot be embedded, hits by terms and subject still come, with coverage `unknown`; `require=vector`
        raises ModelFailed instead. Raises InvalidRequest (a tick or instant yet to come included) and Unavailable.
        """
        principal.require(Role.READER)
        question.check()
        try:
            return self._recalled(principal, question, moved=False)
        except _Moved:
            self.profiles.forget(principal.tribe_id)
            return self._recalled(principal, question, moved=True)

    def _recalled(self, principal: Principal, question: Question, *, moved: bool) -> Recalled:
        """Answers from the space that the tribe is known to serve from; raises _Moved when it has `moved` on since."""
        watch = Stopwatch()
        profile = self.profiles.get(principal.tribe_id)
        space = profile.embedder.space
        with watch.stage("embed"):
            embedding = self._embed(principal, profile.embedder, question)
        pool_size = max(4 * question.limit, SMALLEST_POOL)
        while True:
            with watch.stage("database"):
                found = self._search(principal, question, profile.space_id, embedding, pool_size)
            if embedding is not None and found.header["path"] is None and not moved:
                raise _Moved
            with watch.stage("score"):
                ranking = rank(
                    found.pool,
                    at=rows.moment(found.header["at"]),
                    floor=space.floor,
                    limit=question.limit,
                    min_confidence=question.min_confidence,
                    include_stale=question.include_stale,
                )
            if not _starved(found, ranking, question) or pool_size == LARGEST_POOL:
                break
            pool_size = min(WIDER * pool_size, LARGEST_POOL)
        with watch.stage("database"):
            undecided = 0 if ranking.ranked else self._undecided(principal, question, found, profile, embedding)
        receipt = self._receipt(
            principal, question, found, ranking, watch, space=space, embedded=embedding is not None, undecided=undecided
        )
        log.event(
            Event.RECALLED,
            receipt=show(Prefix.RECEIPT, receipt.receipt_id),
            tick=found.header["tick"],
            hits=len(receipt.hits),
            coverage=receipt.coverage.value,
            path=found.header["path"],
            database_ms=watch.ms["database"],
        )
        return Recalled(hits=tuple(_hit(one) for one in ranking.ranked), receipt=receipt)

    def _embed(self, principal: Principal, embedder: Embedder, question: Question) -> str | None:
        try:
            return as_text(embedder.embed([question.query])[0])
        except ModelFailed as error:
            self.profiles.forget(principal.tribe_id)  # without a vector it would not be seen that the tribe serves from elsewhere
            if question.require is Require.VECTOR:
                raise
            log.event(Event.RECALL_DEGRADED, level=log.WARNING, error=error, cause="embedder_failed")
            return None

    def _search(self, principal: Principal, question: Question, space_id: int, embedding: str | None, pool_size: int) -> Search:
        tick, instant = tick_and_instant(question.as_of)
        records = self.database.records(
            statement("recall", "recall"),
            {
                "tribe_id": principal.tribe_id,
                "space_id": space_id,
                "embedding": embedding,
                "terms": list(terms_of(question.query)[:QUERY_TERMS]),
                "query_subject": subject_key(question.subject or question.query),
                "kinds": [kind.value for kind in question.kinds] or None,
                "subject_key": subject_key(question.subject),
                "tags": Jsonb(dict(question.tags)),
                "pool": pool_size,
                "tick": tick,
                "instant": instant,
                "now": self.now(),
                "rare": RARE_TERMS,
                "cap": COMMON_FROM,
                "exact_limit": self.exact_limit,
            },
        )
        found = Search.of(records)
        if question.at_least is not None and found.header["tick"] < question.at_least:
            stands = found.header["tick"]
            if not found.header["replica"]:
                raise InvalidRequest("at_least", f"must be a tick that was reached; the clock of this tribe stands at {stands}")
            raise Unavailable(f"tick {question.at_least} has not reached this database yet; it stands at {stands}")
        return found

    def _undecided(
        self, principal: Principal, question: Question, found: Search, profile: TribeProfile, embedding: str | None
    ) -> int:
        """Returns how many lessons bear on the question that nothing was decided about yet; asks only where there are any."""
        statuses = found.header["statuses"]
        if not any(statuses.get(one.value) for one in (Status.PENDING, Status.DISPUTED)):
            return 0
        return cast(
            int,
            self.database.value(
                statement("recall", "undecided"),
                {
                    "tribe_id": principal.tribe_id,
                    "space_id": profile.space_id,
                    "embedding": embedding,
                    "terms": list(terms_of(question.query)[:QUERY_TERMS]),
                    "nearer": 1 - (profile.embedder.space.floor - WEAK_MARGIN),
                    "cap": COMMON_FROM,
                },
            ),
        )

    def _receipt(
        self,
        principal: Principal,
        question: Question,
        found: Search,
        ranking: Ranking,
        watch: Stopwatch,
        *,
        space: SpaceDefinition,
        embedded: bool,
        undecided: int,
    ) -> Receipt:
        header = found.header
        path = None if header["path"] is None else SearchPath(header["path"])
        coverage, causes = coverage_of(
            Observed(
                in_scope=header["in_scope"],
                with_vector=header["with_vector"],
                vector_path=path,
                embedder_failed=not embedded,
                pool_exhausted=_starved(found, ranking, question),
            )
        )
        unseen = max(0, header["considered"] - len(found.pool))
        excluded = [Exclusion(rule=status, count=count) for status, count in sorted(header["statuses"].items())]
        excluded += [Exclusion(rule=rule, count=count) for rule, count in sorted(ranking.excluded.items())]
        if undecided:
            excluded.append(Exclusion(rule=UNDECIDED, count=undecided))
        if unseen:
            excluded.append(Exclusion(rule="outranked", count=unseen))
        sides = (path,) if path is not None else ()
        return self.signer.sign(
            Receipt(
                receipt_id=new_id(),
                searched=(_searched(principal, header),),
                query_digest=query_digest(question.query),
                filters=question.filters(),
                paths=(*sides, SearchPath.TERMS, SearchPath.SUBJECT),
                space=space.name if path is not None else None,
                floor=space.floor,
                considered=header["considered"],
                excluded=tuple(excluded),
                hits=tuple(_scored(one) for one in ranking.ranked),
                coverage=coverage,
                causes=causes,
                ranking=VERSION,
                ms=watch.ms,
            )
        )


def _starved(found: Search, ranking: Ranking, question: Question) -> bool:
    """Tells whether hits are missing because what time or confidence excludes took places in the pool.

    What the pool left out is farther than all that is in it, so under the floor as well where the floor alone excluded.
    """
    took_places = any(ranking.excluded[rule] for rule in OVERTAKING)
    return took_places and len(ranking.ranked) < question.limit and found.header["considered"] > len(found.pool)


def query_digest(query: str) -> str:
    """Returns the SHA-256 of a query in hexadecimal: enough to tell another query, too little to read this one."""
    return hashlib.sha256(query.encode()).hexdigest()


def _searched(principal: Principal, header: rows.Document) -> Searched:
    return Searched(tribe=principal.tribe_id, tick=header["tick"], at=rows.moment(header["at"]), settled=header["settled"])


def _hit(ranked: Ranked) -> Hit:
    lesson = ranked.found.lesson
    return Hit(
        lesson=lesson,
        score=ranked.score,
        confidence=ranked.confidence,
        terms=ranked.terms,
        label=LABELS.get(lesson.kind),
        challenges=ranked.found.challenges,
    )


def _scored(ranked: Ranked) -> ScoredHit:
    similarity = ranked.found.similarity
    return ScoredHit(
        lesson_id=ranked.found.lesson.lesson_id,
        score=ranked.score,
        similarity=None if similarity is None else round(similarity, DIGITS),
        terms=ranked.terms,
    )
