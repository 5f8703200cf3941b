"""The embedder for tests: terms, signs, and what happens without them."""

from __future__ import annotations

import numpy as np
import pytest

from tributary.core.errors import BadSetting
from tributary.models.embedders import HashedEmbedder


def similarity(first: str, second: str) -> float:
    vectors = np.array(HashedEmbedder().embed([first, second]))
    return float(vectors[0] @ vectors[1])


def test_vectors_are_the_same_on_every_machine() -> None:
    vector = HashedEmbedder(dimension=64).embed(["deploy failed"])[0]
    assert {index: value for index, value in enumerate(vector) if value} == {
        3: pytest.approx(-(0.5**0.5)),
        50: pytest.approx(-(0.5**0.5)),
    }


def test_texts_are_similar_by_the_terms_that_they_share() -> None:
    lesson = "the checkout deploy fails on a held migration lock"
    assert similarity("checkout deploy fails", lesson) > similarity("checkout is slow", lesson) > 0.1
    assert similarity(lesson, lesson.upper()) == pytest.approx(1)


def test_unrelated_texts_stay_below_the_floor() -> None:
    texts = [" ".join(f"word{index * 10 + offset}" for offset in range(10)) for index in range(200)]
    vectors = np.array(HashedEmbedder().embed(texts))
    pairs = (vectors @ vectors.T)[np.triu_indices(len(texts), 1)]
    assert (pairs < HashedEmbedder().space.floor).mean() > 0.995


def test_terms_past_the_most_that_a_lesson_indexes_still_count() -> None:
    many = " ".join(f"word{number}" for number in range(2000))
    assert similarity(many, many.replace("word1999", "other")) < 1 - 1e-6


@pytest.mark.parametrize("filler", ["中" * 5000, "a.b" * 2000], ids=["cjk", "one token"])
def test_the_end_of_a_text_without_blanks_still_counts(filler: str) -> None:
    assert similarity(f"{filler} end", f"{filler} other") < 1 - 1e-9


@pytest.mark.parametrize("dimension", [0, 63, 385, -1])
def test_a_width_out_of_range_is_refused(dimension: int) -> None:
    with pytest.raises(BadSetting, match=f"dimension is {dimension}"):
        HashedEmbedder(dimension=dimension)


def test_texts_without_terms_differ_by_their_characters() -> None:
    assert similarity("!!!", "!!!") == pytest.approx(1)
    assert abs(similarity("!!!", "???")) < 0.5


def test_terms_that_cancel_out_still_give_a_unit_vector() -> None:
    embedder = HashedEmbedder(dimension=64)
    cells: dict[tuple[int, float], str] = {}
    for number in range(2000):
        vector = embedder.embed([f"w{number}"])[0]
        index = next(index for index, value in enumerate(vector) if value)
        opposite = cells.get((index, -vector[index]))
        if opposite is not None:
            vectors = np.array(embedder.embed([f"{opposite} w{number}"]))
            assert np.linalg.norm(vectors[0]) == pytest.approx(1)
            return
        cells[index, vector[index]] = f"w{number}"
    pytest.fail("no two terms of opposite sign met in one cell")
