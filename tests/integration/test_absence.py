"""An index's empty answer is confirmed by comparing every lesson, within a time, before anything is said to be absent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from tests.libraries import FILTERS, SPACE, Library, embedder_of, open_library, set_portion, unit
from tributary.core.receipt import Cause, Coverage, SearchPath
from tributary.core.requests import Question


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    with open_library(database_url) as opened:
        yield opened


def far(library: Library) -> int:
    """Returns the number of a query that nothing is near."""
    embedder = embedder_of(library)
    rows = library.tribal.rows("SELECT embedding::vector::text AS v FROM tributary.lesson_vector")
    lessons = np.array([np.fromstring(str(row["v"]).strip("[]"), sep=",") for row in rows])
    drawn = unit(np.random.default_rng(9), 4000)
    best = drawn[int(np.argmin((drawn @ lessons.T).max(axis=1)))]
    embedder.vectors = np.vstack([embedder.vectors, best[None, :]]).astype(np.float32)
    return len(embedder.vectors) - 1


def test_an_empty_answer_of_the_index_is_confirmed_by_comparing_every_lesson(library: Library) -> None:
    number = far(library)
    embedder_of(library).space = replace(SPACE, floor=0.95)
    receipt = library.ask(number).receipt
    assert receipt.paths[:2] == (SearchPath.VECTOR_HNSW, SearchPath.VECTOR_EXACT)
    assert (receipt.coverage, receipt.causes) == (Coverage.COMPLETE, ())
    receipt.assert_absence()


def test_what_the_index_passed_over_is_found_before_absence_is_claimed(library: Library) -> None:
    """The index is made to answer with what is farthest, as one whose scan ended on an island."""
    wanted = library.ask(5, exact=True)
    similarities = [hit.similarity for hit in wanted.receipt.hits]
    embedder_of(library).space = replace(SPACE, floor=min(one for one in similarities if one is not None) - 1e-6)
    with psycopg.connect(library.tribal.url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_get_functiondef('tributary.graph_query_v1'::regproc)").fetchone()
        assert row is not None
        ascending = "<=> $1::halfvec(%1$s) LIMIT $2"
        assert ascending in str(row[0])
        connection.execute(str(row[0]).replace(ascending, "<=> $1::halfvec(%1$s) DESC LIMIT $2").encode())
    found = library.ask(5)
    assert [hit.lesson.lesson_id for hit in found.hits] == [hit.lesson.lesson_id for hit in wanted.hits]
    assert found.receipt.paths[:2] == (SearchPath.VECTOR_HNSW, SearchPath.VECTOR_EXACT)
    assert found.receipt.coverage is Coverage.COMPLETE


def test_without_time_to_compare_them_all_absence_may_not_be_claimed(library: Library) -> None:
    number = far(library)
    embedder_of(library).space = replace(SPACE, floor=0.95)
    set_portion(library.tribal, 100)
    recaller = replace(library.tribal.memory.recaller, scan_budget_ms=0)
    receipt = recaller.recall(library.tribal.curator, Question(query=f"zz #{number}")).receipt
    assert receipt.coverage is Coverage.PARTIAL
    assert Cause.TIME_BUDGET in receipt.causes
    assert not receipt.may_assert_absence
    complete = library.ask(number).receipt
    assert (complete.coverage, complete.may_assert_absence) == (Coverage.COMPLETE, True)


def test_portions_give_what_one_scan_gives(library: Library) -> None:
    whole = [library.ask(number, exact=True, **FILTERS["half by a tag"]) for number in range(10)]
    past = [library.ask(number, exact=True, as_of=2000) for number in range(10)]
    set_portion(library.tribal, 100)
    for number in range(10):
        again = library.ask(number, exact=True, **FILTERS["half by a tag"])
        assert [one.lesson.lesson_id for one in again.hits] == [one.lesson.lesson_id for one in whole[number].hits]
        assert again.receipt.considered == whole[number].receipt.considered
        then = library.ask(number, exact=True, as_of=2000)
        assert [one.lesson.lesson_id for one in then.hits] == [one.lesson.lesson_id for one in past[number].hits]
