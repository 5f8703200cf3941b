"""The benches' baseline is what it is said to be: SERIALIZABLE with an ANN read inside, tried again when it is refused."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector

from benchmarks.corpus import Corpus
from benchmarks.first_generation import (
    READ_COMMITTED,
    SERIALIZABLE,
    Lock,
    Took,
    fill,
    first_generation,
    halves,
    make_tables,
)
from tributary.core.decision import Verdict, VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText

LESSONS = 40
PORTS = ("port 1", "port 2")


class Conflicting:
    """Finds that texts about a port conflict. Until all of `together` have read, none of them is answered for the first time."""

    version = "test/conflicting"

    def __init__(self, together: int = 1) -> None:
        self._met = threading.Barrier(together)
        self._own = threading.local()

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        if not hasattr(self._own, "met"):
            self._own.met = True
            self._met.wait(30)
        return [
            Verdict(lesson_id=one.lesson_id, kind=VerdictKind.CONFLICTS, confidence=1.0, judge=self.version, reason="")
            for one in candidates
            if one.text.startswith("port")
        ]


@pytest.fixture
def tribes(database_url: str) -> list[UUID]:
    """Two tribes of the first generation, each with lessons and an index of its own."""
    made = [new_id(), new_id()]
    vectors = np.random.default_rng(3).standard_normal((LESSONS, 384), dtype=np.float32)
    with psycopg.connect(database_url, autocommit=True) as superuser:
        make_tables(superuser)
        fill(superuser, made, Corpus(texts=[f"lesson {number}" for number in range(LESSONS)], vectors=vectors))
    return made


def vector() -> HalfVector:
    return halves(np.random.default_rng(5).standard_normal((1, 384), dtype=np.float32))[0]


def learn_at_once(url: str, tribes: Sequence[UUID], *, isolation: str, attempts: int | None = None) -> list[Took]:
    """Has two learn opposite facts, each in one of `tribes`, neither of whom writes before both have read."""
    with (
        first_generation(url, judge=Conflicting(2), isolation=isolation, attempts=attempts) as way,
        ThreadPoolExecutor(2) as threads,
    ):
        return list(threads.map(way.learn, tribes, PORTS, [vector()] * 2))


def believed(url: str, tribe_id: UUID) -> list[str]:
    query = "SELECT text FROM first.lesson WHERE tribe_id = %s AND believed AND text LIKE 'port%%'"
    with psycopg.connect(url) as connection:
        return [text for (text,) in connection.execute(query, (tribe_id,))]


def test_of_two_that_read_before_either_wrote_one_is_refused_and_replaces_the_other(
    database_url: str, tribes: list[UUID]
) -> None:
    took = learn_at_once(database_url, [tribes[0]] * 2, isolation=SERIALIZABLE)
    assert sorted(one.refused > 0 for one in took) == [False, True]
    assert len(believed(database_url, tribes[0])) == 1


def test_at_read_committed_both_stay_believed(database_url: str, tribes: list[UUID]) -> None:
    """The control: with SERIALIZABLE taken out, the same two get through, so that the test above can fail."""
    took = learn_at_once(database_url, [tribes[0]] * 2, isolation=READ_COMMITTED)
    assert took == [Took(refused=0), Took(refused=0)]
    assert sorted(believed(database_url, tribes[0])) == list(PORTS)


def test_one_that_gives_up_is_forced_in_and_both_stay_believed(database_url: str, tribes: list[UUID]) -> None:
    took = learn_at_once(database_url, [tribes[0]] * 2, isolation=SERIALIZABLE, attempts=1)
    assert sorted(one.forced for one in took) == [False, True]
    assert sorted(believed(database_url, tribes[0])) == list(PORTS)


def test_in_unrelated_tribes_neither_is_refused(database_url: str, tribes: list[UUID]) -> None:
    took = learn_at_once(database_url, tribes, isolation=SERIALIZABLE)
    assert took == [Took(refused=0), Took(refused=0)]


def test_the_read_goes_by_the_tribes_index_and_locks_all_of_it_and_only_rows_of_the_table(
    database_url: str, tribes: list[UUID]
) -> None:
    with first_generation(database_url, judge=Conflicting()) as way:
        way.require_index(tribes[0], vector())
        locks = way.locks(tribes[0], "a lesson", vector())
    assert [one for one in locks if one.kind == "relation"] == [Lock(relation="lesson_embedding_idx", kind="relation", count=1)]
    assert {one.relation for one in locks} == {"lesson", "lesson_embedding_idx"}


def test_a_read_that_another_plan_answers_is_not_taken_for_one_by_the_index(database_url: str, tribes: list[UUID]) -> None:
    with psycopg.connect(database_url, autocommit=True) as superuser:
        superuser.execute("DROP INDEX first.lesson_embedding_idx")
    with first_generation(database_url, judge=Conflicting()) as way, pytest.raises(RuntimeError, match="not what answers"):
        way.require_index(tribes[0], vector())
