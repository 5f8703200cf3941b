"""Vectors that are kept: for equal texts alone, as many as allowed, never those of a failure, and nobody can spoil them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from tests.providers.server import wait_for
from tributary.core.errors import BadSetting, ModelFailed, ModelTimedOut
from tributary.core.ports import SpaceDefinition, Vector
from tributary.models.embedders import CachedEmbedder, HashedEmbedder


class Counting:
    """Hashed terms; counts what it is asked, may be held up, and fails when told to."""

    tests_only = True

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.timeouts: list[float | None] = []
        self.error: Exception | None = None
        self.go = threading.Event()
        self.go.set()
        self.short = False
        self._hashed = HashedEmbedder()

    @property
    def space(self) -> SpaceDefinition:
        return self._hashed.space

    def warm(self) -> None: ...

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        self.asked.append(list(texts))
        self.timeouts.append(timeout_s)
        self.go.wait(30)
        if self.error is not None:
            raise self.error
        return self._hashed.embed(texts[:-1] if self.short else texts)


def test_an_equal_text_is_asked_for_once() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    assert cached.embed(["a b"]) == cached.embed(["a b"]) == HashedEmbedder().embed(["a b"])
    assert inner.asked == [["a b"]]


@pytest.mark.parametrize("other", ["A b", "a b ", "a  b", "a b\n"])
def test_a_text_that_differs_at_all_is_another(other: str) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    cached.embed(["a b"])
    cached.embed([other])
    assert len(inner.asked) == 2


def test_only_what_is_not_kept_is_asked_for_and_each_of_it_once() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    cached.embed(["a", "b"])
    texts = ["c", "a", "d", "c", "b", "c"]
    assert cached.embed(texts) == HashedEmbedder().embed(texts)
    assert inner.asked == [["a", "b"], ["c", "d"]]


def test_what_was_used_longest_ago_goes_first() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert inner.asked == [["a"], ["b"], ["c"], ["b"]]


def test_more_texts_at_once_than_are_kept_are_all_answered() -> None:
    texts = [f"word{number}" for number in range(10)]
    assert CachedEmbedder(Counting(), 3).embed(texts) == HashedEmbedder().embed(texts)


def test_a_size_of_nothing_keeps_nothing() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 0)
    assert cached.embed(["a", "a"]) == cached.embed(["a", "a"]) == HashedEmbedder().embed(["a", "a"])
    assert inner.asked == [["a", "a"]] * 2


@pytest.mark.parametrize("size", [-1, True, 1.5, None])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(BadSetting, match="TRIBUTARY_EMBEDDER_CACHE"):
        CachedEmbedder(Counting(), size)


def test_a_failure_is_not_kept() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    inner.error = ModelFailed("away")
    with pytest.raises(ModelFailed):
        cached.embed(["a"])
    inner.error = None
    assert cached.embed(["a"]) == HashedEmbedder().embed(["a"])


def test_too_few_vectors_are_an_error_and_not_kept() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    inner.short = True
    with pytest.raises(ValueError, match="shorter"):
        cached.embed(["a", "b"])
    inner.short = False
    assert cached.embed(["a", "b"]) == HashedEmbedder().embed(["a", "b"])


def test_what_a_caller_does_with_its_vectors_changes_nothing() -> None:
    cached = CachedEmbedder(Counting(), 10)
    for _ in range(2):
        first, second = cached.embed(["a", "a"])
        cast(list[float], first)[:] = [9.0]
        assert second == HashedEmbedder().embed(["a"])[0]
    assert cached.embed(["a"]) == HashedEmbedder().embed(["a"])


def test_threads_that_want_the_same_text_at_once_ask_for_it_once() -> None:
    inner = Counting()
    inner.go.clear()
    cached = CachedEmbedder(inner, 10)
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(cached.embed, ["a", "b"]) for _ in range(8)]
        assert wait_for(lambda: len(inner.asked) == 1)
        inner.go.set()
        assert [one.result() for one in running] == [HashedEmbedder().embed(["a", "b"])] * 8
    assert inner.asked == [["a", "b"]]


def test_threads_that_wait_for_each_others_texts_do_not_block_each_other() -> None:
    cached = CachedEmbedder(Counting(), 2)
    orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "d"], ["d", "a"]]
    with ThreadPoolExecutor(8) as pool:
        for order, vectors in zip(orders * 50, pool.map(cached.embed, orders * 50), strict=True):
            assert vectors == HashedEmbedder().embed(order)


def test_a_thread_whose_forerunner_failed_asks_for_itself() -> None:
    inner = Counting()
    inner.go.clear()
    inner.error = ModelTimedOut("no time was left")
    cached = CachedEmbedder(inner, 10)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cached.embed, ["a"], timeout_s=5.0)
        assert wait_for(lambda: len(inner.asked) == 1)
        second = pool.submit(cached.embed, ["a"], timeout_s=20.0)
        inner.go.set()
        with pytest.raises(ModelTimedOut):
            first.result()
        with pytest.raises(ModelTimedOut):
            second.result()
    assert [len(texts) for texts in inner.asked] == [1, 1]


def test_a_thread_waits_for_another_no_longer_than_it_may() -> None:
    inner = Counting()
    inner.go.clear()
    cached = CachedEmbedder(inner, 10)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(cached.embed, ["a"])
        assert wait_for(lambda: len(inner.asked) == 1)
        with pytest.raises(ModelTimedOut, match="another request"):
            cached.embed(["a"], timeout_s=0.1)
        inner.go.set()
        assert first.result() == HashedEmbedder().embed(["a"])


def test_the_callers_time_is_handed_on() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    cached.embed(["a"], timeout_s=7.0)
    cached.embed(["b"])
    assert inner.timeouts[0] is not None
    assert 0 < inner.timeouts[0] <= 7
    assert inner.timeouts[1] is None
