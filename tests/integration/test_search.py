"""Whatever way a search takes, it finds what comparing every lesson finds: filters, the past, indexes and what traps them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.corpus import Corpus
from benchmarks.load import load_lessons
from tests.conftest import new_database
from tests.libraries import (
    EXACT,
    FILTERS,
    LESSONS,
    WIDTH,
    Library,
    embedder_of,
    end,
    open_library,
    replace_lesson,
    scans_of,
    set_narrow_limit,
)
from tests.tribes import Tribal, open_tribal
from tributary.core.errors import InvalidRequest
from tributary.core.receipt import Coverage, SearchPath
from tributary.core.requests import Recalled
from tributary.garden import FEWEST
from tributary.spaces import build_index, index_fresh


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    """A library that the test may change."""
    with open_library(database_url) as opened:
        yield opened


@pytest.fixture(scope="module")
def still(server_url: str, template: str) -> Iterator[Library]:
    """A library that no test changes."""
    with new_database(server_url, template) as url, open_library(url) as opened:
        yield opened


@pytest.mark.parametrize("asked", FILTERS.values(), ids=FILTERS)
def test_a_filtered_search_finds_what_comparing_every_lesson_finds(still: Library, asked: dict[str, Any]) -> None:
    truth = [still.ask(number, exact=True, **asked) for number in range(30)]
    assert {one.receipt.coverage for one in truth} == {Coverage.COMPLETE}
    compare(truth, [still.ask(number, **asked) for number in range(30)])


def compare(truth: list[Recalled], found: list[Recalled], least: float = 0.98) -> None:
    """Asserts that searches found as many lessons as they should, and nearly all of the right ones."""
    assert [len(one.hits) for one in found] == [len(one.hits) for one in truth]
    pairs = [
        ({hit.lesson.lesson_id for hit in one.hits}, {hit.lesson.lesson_id for hit in other.hits})
        for one, other in zip(truth, found, strict=True)
    ]
    assert sum(len(one & other) for one, other in pairs) >= least * sum(len(one) for one, _ in pairs)


def ids(found: Recalled) -> set[UUID]:
    return {hit.lesson.lesson_id for hit in found.hits}


def test_a_narrow_filter_is_compared_and_a_wide_one_is_sought_by_the_index(library: Library) -> None:
    def path(**asked: Any) -> tuple[SearchPath, Coverage]:
        receipt = library.ask(1, **asked).receipt
        return receipt.paths[0], receipt.coverage

    assert path() == (SearchPath.VECTOR_HNSW, Coverage.APPROXIMATE)
    assert path(tags={"part": "7"}) == (SearchPath.VECTOR_EXACT, Coverage.COMPLETE)
    assert path(subject="PART 1") == (SearchPath.VECTOR_EXACT, Coverage.COMPLETE)
    # 3,000 lessons are hardly more than a filter's that is always compared; a smaller limit is put in its place
    set_narrow_limit(library.tribal, 200)
    assert path(tags={"env": "prod"}) == (SearchPath.VECTOR_HNSW, Coverage.APPROXIMATE)
    assert path(tags={"part": "7"}) == (SearchPath.VECTOR_EXACT, Coverage.COMPLETE)
    for asked in FILTERS.values():
        truth = [library.ask(number, exact=True, **asked) for number in range(20)]
        compare(truth, [library.ask(number, **asked) for number in range(20)])


@pytest.mark.parametrize("narrow", [10, 3000], ids=["by the indexes", "compared"])
def test_a_search_as_of_the_past_finds_what_it_found_then(library: Library, narrow: int) -> None:
    then = {name: [library.ask(number, exact=True, **asked) for number in range(20)] for name, asked in FILTERS.items()}
    tick = end(library.tribal, 3)
    end(library.tribal, 5)
    set_narrow_limit(library.tribal, narrow)
    with psycopg.connect(library.tribal.url, autocommit=True) as connection:
        build_index(connection, library.tribal.tribe_id, exact_limit=EXACT)
    assert library.tribal.rows("SELECT past > %s AS outgrown FROM tributary.tribe_space", EXACT) == [{"outgrown": True}]
    for name, asked in FILTERS.items():
        now = [library.ask(number, as_of=tick, **asked) for number in range(20)]
        compare(then[name], now, least=0.97)
        assert {one.receipt.coverage for one in now} <= {Coverage.COMPLETE, Coverage.APPROXIMATE}


def test_the_index_of_the_past_is_asked_and_without_it_each_lesson_is_compared(library: Library) -> None:
    tick = end(library.tribal, 2)
    set_narrow_limit(library.tribal, 10)
    compared = library.ask(1, as_of=tick)
    with psycopg.connect(library.tribal.url, autocommit=True) as connection:
        build_index(connection, library.tribal.tribe_id, exact_limit=EXACT)
    (name,) = library.tribal.rows("SELECT relname FROM pg_class WHERE relname LIKE 'lesson_vector_past_%%'")
    before = scans_of(library.tribal, str(name["relname"]))
    sought = library.ask(1, as_of=tick)
    assert [hit.lesson.lesson_id for hit in sought.hits] == [hit.lesson.lesson_id for hit in compared.hits]
    assert scans_of(library.tribal, str(name["relname"])) > before
    assert index_fresh(library.tribal.memory.database, library.tribal.tribe_id) == 0
    end(library.tribal, 5)  # these wait beside the index of the past until the gardener comes
    again = library.ask(1, as_of=tick)
    assert [hit.lesson.lesson_id for hit in again.hits] == [hit.lesson.lesson_id for hit in compared.hits]
    assert index_fresh(library.tribal.memory.database, library.tribal.tribe_id, most=10_000) > 0
    assert [hit.lesson.lesson_id for hit in library.ask(1, as_of=tick).hits] == [hit.lesson.lesson_id for hit in compared.hits]


@pytest.mark.parametrize("limit", [1, 41, 100])
def test_limit_is_served_in_full(still: Library, limit: int) -> None:
    several: tuple[dict[str, Any], ...] = ({}, {"tags": {"env": "prod"}}, {"as_of": LESSONS - 1})
    for asked in several:
        assert len(still.ask(4, limit=limit, **asked).hits) == limit


def test_an_agent_that_the_tribe_does_not_have_is_no_empty_answer(still: Library) -> None:
    with pytest.raises(InvalidRequest, match="nobody"):
        still.ask(1, agent="nobody")


# -- what traps an index


def _trap(library: Library, copies: int, tribe: UUID, agent: UUID) -> None:
    space = int(str(library.tribal.rows("SELECT space_id FROM tributary.space")[0]["space_id"]))
    query = embedder_of(library)
    with psycopg.connect(library.tribal.url, autocommit=True) as connection:
        same = np.repeat(query.vectors[:1], copies, axis=0)
        corpus = Corpus(texts=[f"copy {number}" for number in range(copies)], vectors=same)
        load_lessons(connection, tribe_id=tribe, agent_id=agent, space_id=space, corpus=corpus, rows=range(copies))
        connection.execute("UPDATE tributary.lesson_vector SET indexed = true WHERE tribe_id = %s", (tribe,))


def test_two_thousand_equal_vectors_in_other_tribes_cost_nothing(library: Library) -> None:
    before = [[hit.lesson.lesson_id for hit in library.ask(number).hits] for number in range(20)]
    for index in range(2):
        with open_tribal(
            library.tribal.url, name=f"other-{index}", embedder=library.tribal.adapters.embedder, exact_limit=EXACT
        ) as other:
            _trap(library, 1000, other.tribe_id, other.curator.agent_id)
            with psycopg.connect(library.tribal.url, autocommit=True) as connection:
                build_index(connection, other.tribe_id, exact_limit=EXACT)
    assert [[hit.lesson.lesson_id for hit in library.ask(number).hits] for number in range(20)] == before


def test_one_index_over_all_tribes_would_be_trapped_by_them(library: Library) -> None:
    """The control: the very same vectors in one index hide a tribe's lessons from the plain query."""
    tribal = library.tribal
    with open_tribal(tribal.url, name="other", embedder=tribal.adapters.embedder) as other:
        _trap(library, 2000, other.tribe_id, other.curator.agent_id)
    embedder = embedder_of(library)
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        register_vector(connection)
        (name,) = tribal.rows("SELECT relname FROM pg_class WHERE relname LIKE 'lesson_vector_hnsw_%%'")
        connection.execute(f'DROP INDEX tributary."{name["relname"]}"'.encode())
        connection.execute(
            f"CREATE INDEX ON tributary.lesson_vector USING hnsw ((embedding::halfvec({WIDTH})) halfvec_cosine_ops)".encode()
        )
        connection.execute("SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off")
        found = connection.execute(
            f"SELECT lesson_id FROM tributary.lesson_vector WHERE tribe_id = %s AND believed"
            f" ORDER BY embedding::halfvec({WIDTH}) <=> %s::halfvec({WIDTH}) LIMIT 10".encode(),
            (tribal.tribe_id, HalfVector(embedder.vectors[0])),
        ).fetchall()
    assert len(found) < 10


def test_five_hundred_updates_of_one_lesson_cost_nothing(library: Library) -> None:
    """Each update is another lesson at the same place, and a gardener comes by after each of them."""
    tribal = library.tribal
    truth = [ids(library.ask(number, exact=True)) for number in range(60)]
    newest = library.ask(0, exact=True).hits[0].lesson.lesson_id
    before = recall_at_10(library, truth)
    for _ in range(500):
        newest = replace_lesson(tribal, newest)
        index_if_due(tribal)
    waiting = "SELECT count(*) FILTER (WHERE indexed) AS indexed, count(*) FILTER (WHERE NOT indexed) AS waiting"
    assert tribal.rows(f"{waiting} FROM tributary.lesson_vector WHERE believed") == [{"indexed": LESSONS - 1, "waiting": 1}]
    truth = [ids(library.ask(number, exact=True)) for number in range(60)]
    assert recall_at_10(library, truth) >= before - 0.005
    assert newest in ids(library.ask(0))


def recall_at_10(library: Library, truth: list[set[UUID]]) -> float:
    return sum(len(ids(library.ask(number)) & one) for number, one in enumerate(truth)) / sum(map(len, truth))


def index_if_due(tribal: Tribal) -> None:
    """Does what the gardener does about the index."""
    waiting = tribal.rows("SELECT count(*) AS n FROM tributary.lesson_vector WHERE believed AND NOT indexed")[0]["n"]
    if int(str(waiting)) >= FEWEST:
        index_fresh(tribal.memory.database, tribal.tribe_id)


# -- plans and repeated calls


def test_the_first_and_the_thousandth_call_of_a_connection_answer_alike(still: Library) -> None:
    rng = random.Random(2)
    asked = [(rng.randrange(50), dict(rng.choice(list(FILTERS.values())))) for _ in range(20)]
    first = [[hit.lesson.lesson_id for hit in still.ask(number, **fields).hits] for number, fields in asked]
    for _ in range(49):
        assert [[hit.lesson.lesson_id for hit in still.ask(number, **fields).hits] for number, fields in asked] == first


def test_the_shipped_search_scans_the_index_and_a_generic_plan_would_not(still: Library) -> None:
    tribal = still.tribal
    (name,) = tribal.rows("SELECT relname FROM pg_class WHERE relname LIKE 'lesson_vector_hnsw_%%'")
    index = str(name["relname"])
    before = scans_of(tribal, index)
    still.ask(1)
    assert scans_of(tribal, index) == before + 1
    embedder = embedder_of(still)
    vector = HalfVector(embedder.vectors[1])
    space = tribal.rows("SELECT space_id FROM tributary.space")[0]["space_id"]
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute(
            f"PREPARE nearest (uuid, integer, halfvec) AS SELECT lesson_id FROM tributary.lesson_vector"
            f" WHERE tribe_id = $1 AND space_id = $2 AND believed AND indexed"
            f" ORDER BY embedding::halfvec({WIDTH}) <=> $3::halfvec({WIDTH}) LIMIT 10".encode()
        )
        text = vector.to_text()
        plan = connection.execute(f"EXPLAIN EXECUTE nearest ('{tribal.tribe_id}', {space}, '{text}')".encode()).fetchall()
    assert not any(index in str(line[0]) for line in plan)
