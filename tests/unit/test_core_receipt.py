"""Coverage and receipts: what a search looked at, and what may be claimed from it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core_made import NOON, TRIBE, receipt
from tributary.core.coverage import Observed, coverage_of
from tributary.core.errors import NotComplete
from tributary.core.receipt import Cause, Coverage, Exclusion, Receipt, ScoredHit, Searched, SearchPath

HIT = ScoredHit(lesson_id=UUID(int=5), score=0.5, similarity=0.4, terms={"similarity": 0.4})
EXACT, HNSW = SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW


def observed(in_scope: int, with_vector: int, path: SearchPath | None, *, embedder_failed: bool = False) -> Observed:
    return Observed(in_scope=in_scope, with_vector=with_vector, vector_path=path, embedder_failed=embedder_failed)


def behind(seen: Observed) -> Observed:
    return replace(seen, replica_behind=True)


@pytest.mark.parametrize(
    ("seen", "coverage", "causes"),
    [
        (observed(3, 3, EXACT), Coverage.COMPLETE, ()),
        (observed(0, 0, EXACT), Coverage.COMPLETE, ()),
        (observed(0, 0, None), Coverage.COMPLETE, ()),
        (observed(3, 3, HNSW), Coverage.APPROXIMATE, (Cause.APPROXIMATE_INDEX,)),
        (observed(3, 2, EXACT), Coverage.PARTIAL, (Cause.LESSONS_WITHOUT_VECTOR,)),
        (observed(3, 0, EXACT), Coverage.PARTIAL, (Cause.LESSONS_WITHOUT_VECTOR,)),
        (observed(3, 2, HNSW), Coverage.PARTIAL, (Cause.LESSONS_WITHOUT_VECTOR, Cause.APPROXIMATE_INDEX)),
        (observed(3, 0, None), Coverage.UNKNOWN, (Cause.NO_SERVING_SPACE,)),
        (observed(3, 3, EXACT, embedder_failed=True), Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,)),
        (observed(0, 0, None, embedder_failed=True), Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,)),
        (behind(observed(0, 0, EXACT)), Coverage.PARTIAL, (Cause.REPLICA_BEHIND,)),
        (behind(observed(3, 3, EXACT)), Coverage.PARTIAL, (Cause.REPLICA_BEHIND,)),
        (behind(observed(3, 3, HNSW)), Coverage.PARTIAL, (Cause.APPROXIMATE_INDEX, Cause.REPLICA_BEHIND)),
        (behind(observed(3, 0, None)), Coverage.UNKNOWN, (Cause.NO_SERVING_SPACE, Cause.REPLICA_BEHIND)),
    ],
)
def test_coverage_is_as_good_as_the_search_was_and_says_why_it_is_no_better(
    seen: Observed, coverage: Coverage, causes: tuple[Cause, ...]
) -> None:
    assert coverage_of(seen) == (coverage, causes)


def test_every_verdict_and_every_cause_can_be_come_to() -> None:
    seen = [
        coverage_of(
            replace(
                observed(scope, vectors, path, embedder_failed=failed),
                pool_exhausted=exhausted,
                time_over=over,
                replica_behind=over,
            )
        )
        for scope, vectors, path, failed, exhausted, over in product(
            (0, 3), (0, 2, 3), (EXACT, HNSW, None), (False, True), (False, True), (False, True)
        )
    ]
    assert {coverage for coverage, _ in seen} == set(Coverage)
    assert {cause for _, causes in seen for cause in causes} == set(Cause)


@given(st.integers(0, 5), st.integers(0, 5), st.sampled_from([EXACT, HNSW, None]), st.booleans())
def test_a_search_is_complete_only_when_it_compared_all_that_was_in_scope(
    in_scope: int, with_vector: int, path: SearchPath | None, failed: bool
) -> None:
    coverage, causes = coverage_of(observed(in_scope, with_vector, path, embedder_failed=failed))
    compared_all = path is EXACT and with_vector >= in_scope
    assert (coverage is Coverage.COMPLETE) == (not failed and (compared_all or in_scope == 0))
    assert (coverage is Coverage.COMPLETE) == (not causes)


@pytest.mark.parametrize("coverage", Coverage)
@pytest.mark.parametrize("hits", [(), (HIT,)])
def test_only_a_complete_search_that_found_nothing_shows_that_there_is_nothing(
    coverage: Coverage, hits: tuple[ScoredHit, ...]
) -> None:
    one = receipt(coverage=coverage, hits=hits, causes=() if coverage is Coverage.COMPLETE else (Cause.EMBEDDER_FAILED,))
    allowed = coverage is Coverage.COMPLETE and not hits
    assert one.may_assert_absence is allowed
    assert one.document()["may_assert_absence"] is allowed
    if allowed:
        one.assert_absence()
    else:
        told = "found 1 lesson" if hits else f"coverage is {coverage} \\(embedder_failed\\)"
        with pytest.raises(NotComplete, match=told):
            one.assert_absence()


RECEIPTS = st.builds(
    Receipt,
    receipt_id=st.uuids(),
    searched=st.just((Searched(tribe=TRIBE, tick=4, at=NOON, settled=False),)),
    query_digest=st.none() | st.text(max_size=64),
    filters=st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2)),
    paths=st.lists(st.sampled_from(SearchPath)).map(tuple),
    space=st.none() | st.text(max_size=8),
    floor=st.none() | st.floats(0, 1),
    considered=st.integers(0, 2**62),
    excluded=st.lists(st.builds(Exclusion, rule=st.text(max_size=8), count=st.integers(0))).map(tuple),
    hits=st.lists(
        st.builds(
            ScoredHit,
            lesson_id=st.uuids(),
            score=st.floats(-1, 1),
            similarity=st.none() | st.floats(-1, 1),
            terms=st.dictionaries(st.text(max_size=5), st.floats(0, 1), max_size=3),
        ),
        max_size=3,
    ).map(tuple),
    coverage=st.sampled_from(Coverage),
    causes=st.lists(st.sampled_from(Cause)).map(tuple),
    ranking=st.just("v2"),
    ms=st.dictionaries(st.text(max_size=5), st.floats(0, 1000), max_size=3),
)


@given(RECEIPTS)
def test_a_receipts_document_is_json_that_is_the_same_when_read_back_and_sorted(one: Receipt) -> None:
    document = one.document()
    written = json.dumps(document, sort_keys=True, allow_nan=False)
    assert json.loads(written) == document
    assert json.dumps(json.loads(written), sort_keys=True, allow_nan=False) == written
    assert document["returned"] == len(one.hits)


def test_a_receipts_document_holds_all_of_it_but_the_signature() -> None:
    one = receipt(hits=(HIT,), excluded=(Exclusion(rule="expired", count=2),), key="k1", signature="never")
    assert one.document() == {
        "id": "rcp_" + f"{7:032x}",
        "searched": [{"tribe": str(TRIBE), "tick": 4, "at": "2026-03-01T12:00:00Z", "settled": True}],
        "query_digest": "ab" * 32,
        "filters": {"limit": 5},
        "paths": ["vector:exact", "terms"],
        "space": "hash/8",
        "floor": 0.2,
        "considered": 3,
        "returned": 1,
        "excluded": [{"rule": "expired", "count": 2}],
        "hits": [{"id": "les_" + f"{5:032x}", "score": 0.5, "similarity": 0.4, "terms": {"similarity": 0.4}}],
        "coverage": "complete",
        "causes": [],
        "may_assert_absence": False,
        "ranking": "v2",
        "ms": {"database": 1.5},
        "key": "k1",
    }
