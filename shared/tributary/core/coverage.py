"""From what a search observed of itself to what may be claimed from it."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.core.receipt import Cause, Coverage, SearchPath


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What one recall knows of its own search.

    in_scope          believed lessons that the filters let in; all that are (or were) believed, where it did not look at each
    with_vector       those of them that have a vector in the serving space
    vector_path       how vectors were searched, or None when they were not
    embedder_failed   the query could not be embedded
    time_over         the time to compare lessons one by one was over before all were
    pool_exhausted    rules of time or confidence emptied the pool while lessons outside of it were not looked at
    replica_behind    a replica answered that had not reached the tick asked for, since the writer could not be reached
    """

    in_scope: int
    with_vector: int
    vector_path: SearchPath | None
    embedder_failed: bool
    time_over: bool = False
    pool_exhausted: bool = False
    replica_behind: bool = False


def coverage_of(observed: Observed) -> tuple[Coverage, tuple[Cause, ...]]:
    """Returns the coverage and every cause that keeps it from being better."""
    coverage, causes = _of_what_was_there(observed)
    if not observed.replica_behind:
        return coverage, causes
    return Coverage.UNKNOWN if coverage is Coverage.UNKNOWN else Coverage.PARTIAL, (*causes, Cause.REPLICA_BEHIND)


def _of_what_was_there(observed: Observed) -> tuple[Coverage, tuple[Cause, ...]]:
    if observed.in_scope == 0 and not observed.embedder_failed:
        return Coverage.COMPLETE, ()
    if observed.embedder_failed:
        return Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,)
    if observed.vector_path is None:
        return Coverage.UNKNOWN, (Cause.NO_SERVING_SPACE,)
    causes: list[Cause] = []
    if observed.time_over:
        causes.append(Cause.TIME_BUDGET)
    elif observed.with_vector < observed.in_scope:
        causes.append(Cause.LESSONS_WITHOUT_VECTOR)
    if observed.vector_path is SearchPath.VECTOR_HNSW:
        causes.append(Cause.APPROXIMATE_INDEX)
    if observed.pool_exhausted:
        causes.append(Cause.POOL_EXHAUSTED)
    if not set(causes) <= {Cause.APPROXIMATE_INDEX}:
        return Coverage.PARTIAL, tuple(causes)
    if causes:
        return Coverage.APPROXIMATE, tuple(causes)
    return Coverage.COMPLETE, ()
