"""The pipeline of a recall, step by step. It reads in one round trip, from one snapshot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.coverage import Observed, coverage_of
from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ids import Prefix, new_id, show
from tributary.core.lesson import Kind, Lesson
from tributary.core.ports import Embedder, SpaceDefinition
from tributary.core.ranking import DIGITS, OVERTAKING, VERSION, WEAK_MARGIN, Ranked, Ranking
from tributary.core.receipt import UNDECIDED, Exclusion, Receipt, ScoredHit, Searched, SearchPath
from tributary.core.requests import Hit, Question, Recalled, Require
from tributary.recall.search import EVERYTHING, Asked, Search, rank_pool, search, undecided, whole_lessons
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.spaces import EXACT_LIMIT, Profiles, TribeProfile, as_text
from tributary.store import Reading
from tributary.telemetry import Event, Metric, Span, log, metrics, traces

LARGEST_POOL = 5000
WIDER = 10
"""A search whose pool was emptied by rules of time or confidence is made again with a pool so many times as large."""
SCAN_BUDGET_MS = 2000
"""How long lessons may be compared one by one, where they are many; some three million of them on a current machine."""
LABELS = {Kind.REJECTED_HYPOTHESIS: "tried, did not help"}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a recall came to: its last search with the ranking of its pool, and the ways in which vectors were sought."""

    found: Search
    ranking: Ranking
    paths: tuple[SearchPath, ...]


class _Moved(Exception):
    """The tribe serves from another space than it was known to."""

    def __init__(self, *, by_replica: bool) -> None:
        self.by_replica = by_replica
        super().__init__()


@dataclass(frozen=True, kw_only=True)
class Recaller:
    """Answers questions from what the tribe believes, or believed."""

    database: Reading
    profiles: Profiles
    signer: Signer
    now: Now = utc_now
    exact_limit: int = EXACT_LIMIT
    scan_budget_ms: int = SCAN_BUDGET_MS

    def recall(self, principal: Principal, question: Question, *, confirm: bool = True) -> Recalled:
        """Returns the best lessons with a receipt of how they were found.

        Where an index finds nothing, each lesson is compared before that is said; with `confirm` False, for whoever only wants to
        know whether a recall is answered, it is not.

        When the query cannot be embedded, hits by terms and subject still come, with coverage `unknown`; `require=vector`
        raises ModelFailed instead. Until a replica has reached the tick `at_least` the writer answers; when that cannot be
        reached, coverage is `partial` with the cause `replica_behind`. Raises InvalidRequest (a tick or instant yet to come
        included) and Unavailable.
        """
        with traces.span(Span.RECALL, tribe=principal.tribe_id, agent=principal.name):
            principal.require(Role.READER)
            question.check()
            known = self.profiles.get(principal.tribe_id)
            try:
                return self._recalled(principal, question, known, moved=False, confirm=confirm)
            except _Moved as moved:
                self.profiles.forget(principal.tribe_id)
                try:
                    known = self.profiles.get(principal.tribe_id)
                except BadSetting:
                    if not moved.by_replica:  # it has not heard of a switch yet, and the writer, who has, is away
                        raise
                return self._recalled(principal, question, known, moved=True, confirm=confirm)

    def _recalled(
        self, principal: Principal, question: Question, profile: TribeProfile, *, moved: bool, confirm: bool
    ) -> Recalled:
        """Answers from the space that the tribe is known to serve from; raises _Moved when it has `moved` on since."""
        watch = Stopwatch()
        space = profile.embedder.space
        with watch.stage("embed"), traces.span(Span.RECALL_EMBED):
            embedding = self._embed(principal, profile.embedder, question)
        asked = Asked.of(
            principal.tribe_id,
            question,
            space_id=profile.space_id,
            embedding=embedding,
            now=self.now(),
            exact_limit=self.exact_limit,
            budget_ms=self.scan_budget_ms,
        )
        floor = space.floor
        outcome = self.answer(asked, floor=floor, watch=watch)
        if embedding is not None and outcome.found.path is None and not moved:
            raise _Moved(by_replica=outcome.found.answer.replica)
        if confirm and not outcome.ranking.ranked and outcome.found.path is SearchPath.VECTOR_HNSW:
            # an index may pass over what is near: only when each lesson was compared can it be said that there is none
            again = self.answer(replace(asked, exact_limit=EVERYTHING), floor=floor, watch=watch)
            outcome = replace(again, paths=(SearchPath.VECTOR_HNSW, *again.paths))
        found, ranked = outcome.found, outcome.ranking.ranked
        with watch.stage("database"), traces.span(Span.RECALL_DATABASE):
            if ranked:
                open_questions = 0
                lessons = whole_lessons(found, [one.found.lesson.lesson_id for one in ranked])
                if any(not lessons[one.found.lesson.lesson_id].text for one in ranked):  # erased since it was found
                    return self._recalled(principal, question, profile, moved=moved, confirm=confirm)
            else:
                open_questions = undecided(found, nearer=1 - (floor - WEAK_MARGIN))
                lessons = {}
        with traces.span(Span.RECALL_RECEIPT):
            receipt = self._receipt(principal, question, outcome, watch, space=space, undecided=open_questions)
        _tell(receipt, found, database_ms=watch.ms["database"])
        return Recalled(hits=tuple(_hit(one, lessons) for one in ranked), receipt=receipt)

    def _embed(self, principal: Principal, embedder: Embedder, question: Question) -> str | None:
        try:
            return as_text(embedder.embed([question.query])[0])
        except ModelFailed as error:
            # without a vector it would not be seen that the tribe serves from elsewhere
            self.profiles.forget(principal.tribe_id)
            if question.require is Require.VECTOR:
                raise
            log.event(Event.RECALL_DEGRADED, level=log.WARNING, error=error, cause="embedder_failed")
            return None

    def answer(self, asked: Asked, *, floor: float, watch: Stopwatch | None = None) -> Outcome:
        """Searches and ranks, with a wider pool as long as rules that exclude what is near leave places empty."""
        watch = watch or Stopwatch()
        while True:
            with watch.stage("database"), traces.span(Span.RECALL_DATABASE):
                found = search(self.database, asked)
            with watch.stage("score"), traces.span(Span.RECALL_SCORE):
                ranking = rank_pool(found, floor=floor)
            if not starved(found, ranking) or asked.pool == LARGEST_POOL:
                return Outcome(found=found, ranking=ranking, paths=() if found.path is None else (found.path,))
            asked = replace(asked, pool=min(WIDER * asked.pool, LARGEST_POOL))

    def _receipt(
        self,
        principal: Principal,
        question: Question,
        outcome: Outcome,
        watch: Stopwatch,
        *,
        space: SpaceDefinition,
        undecided: int,
    ) -> Receipt:
        found, ranking = outcome.found, outcome.ranking
        header = found.header
        in_scope, with_vector = found.scope_and_vectors
        coverage, causes = coverage_of(
            Observed(
                in_scope=in_scope,
                with_vector=with_vector,
                vector_path=found.path,
                embedder_failed=found.asked.embedding is None,
                time_over=not header["finished"],
                pool_exhausted=starved(found, ranking),
                replica_behind=found.answer.behind,
            )
        )
        unseen = max(0, found.considered - len(found.pool))
        excluded = [Exclusion(rule=status, count=count) for status, count in sorted(header["statuses"].items())]
        excluded += [Exclusion(rule=rule, count=count) for rule, count in sorted(ranking.excluded.items())]
        if undecided:
            excluded.append(Exclusion(rule=UNDECIDED, count=undecided))
        if unseen:
            excluded.append(Exclusion(rule="outranked", count=unseen))
        return self.signer.sign(
            Receipt(
                receipt_id=new_id(),
                searched=(Searched(tribe=principal.tribe_id, tick=found.tick, at=found.at, settled=header["settled"]),),
                query_digest=query_digest(question.query),
                filters=question.filters(),
                paths=(*outcome.paths, SearchPath.TERMS, SearchPath.SUBJECT),
                space=space.name if found.path is not None else None,
                floor=space.floor,
                considered=found.considered,
                excluded=tuple(excluded),
                hits=tuple(_scored(one) for one in ranking.ranked),
                coverage=coverage,
                causes=causes,
                ranking=VERSION,
                ms=watch.ms,
            )
        )


def starved(found: Search, ranking: Ranking) -> bool:
    """Tells whether hits are missing because what time or confidence excludes took places in the pool.

    What the pool left out is farther than all that is in it, so under the floor as well where the floor alone excluded.
    """
    took_places = any(ranking.excluded[rule] for rule in OVERTAKING)
    return took_places and len(ranking.ranked) < found.asked.question.limit and found.considered > len(found.pool)


def _tell(receipt: Receipt, found: Search, *, database_ms: float) -> None:
    """Says how a question was answered, in the log and in the span of its recall."""
    shown, hits, coverage = show(Prefix.RECEIPT, receipt.receipt_id), len(receipt.hits), receipt.coverage.value
    path = None if found.path is None else found.path.value
    log.event(Event.RECALLED, receipt=shown, tick=found.tick, hits=hits, coverage=coverage, path=path, database_ms=database_ms)
    metrics.record(Metric.COVERAGE, of=coverage)
    metrics.record(Metric.RECALL_LATENCY, sum(receipt.ms.values()), of=path or "none")
    traces.note(receipt=shown, tick=found.tick, hits=hits, coverage=coverage, path=path)


def query_digest(query: str) -> str:
    """Returns the SHA-256 of a query in hexadecimal: enough to tell another query, too little to read this one."""
    return hashlib.sha256(query.encode()).hexdigest()


def _hit(ranked: Ranked, lessons: dict[UUID, Lesson]) -> Hit:
    lesson = lessons[ranked.found.lesson.lesson_id]
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
