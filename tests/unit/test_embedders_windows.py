"""Cutting into windows, grouping them, and putting them together again."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.core.errors import BadSetting, ModelFailed
from tributary.models.embedders.windows import BATCH_TOKENS, TextWindowing, Windowing, batches, embed_in_windows, encodable

MINE = Windowing(tokens=256, prefix=(101,), suffix=(102,))
windowings = st.builds(Windowing, tokens=st.integers(8, 600), prefix=st.just((1,)), suffix=st.sampled_from([(), (2,), (2, 3)]))


@given(windowing=windowings, length=st.integers(0, 5000))
def test_windows_cover_a_text_with_the_overlap_and_no_more_of_them_than_it_takes(windowing: Windowing, length: int) -> None:
    spans = windowing.spans(length)
    assert spans[0][0] == 0
    assert spans[-1][1] == length
    for (start, end), (following, _) in pairwise(spans):
        assert start < following <= end - windowing.overlap
    assert all(end - start <= windowing.capacity for start, end in spans)
    fewer = len(spans) - 1
    if fewer:
        assert fewer * windowing.capacity - (fewer - 1) * windowing.overlap < length
        assert {end - start for start, end in spans} == {windowing.capacity}


def test_a_text_of_256_tokens_with_its_special_ones_is_one_window() -> None:
    assert MINE.windows(list(range(1000, 1254))) == [[101, *range(1000, 1254), 102]]
    assert len(MINE.windows(list(range(1000, 1255)))) == 2


def test_every_window_has_the_opening_and_closing_tokens_and_at_most_256() -> None:
    windows = MINE.windows(list(range(1000, 6000)))
    assert {(window[0], window[-1], len(window)) for window in windows} == {(101, 102, 256)}


def test_windows_too_small_for_text_are_refused() -> None:
    with pytest.raises(BadSetting, match="4 tokens leaves 0"):
        Windowing(tokens=4, prefix=(1, 2), suffix=(3, 4))


def test_the_name_changes_with_the_size_of_the_windows() -> None:
    assert MINE.name == "256t-overlap32-even-mean"
    assert Windowing(tokens=512, prefix=(101,), suffix=(102,)).name != MINE.name


WIDE = "a é ß 中 각 ﷺ 🎉 \u0301 ﬃ x".replace(" ", "")


def width(text: str) -> int:
    return sum(max(len(one.encode()), len(unicodedata.normalize("NFKC", one))) for one in text)


@given(text=st.text(st.sampled_from(WIDE), max_size=2000), most=st.integers(320, 900))
def test_windows_of_text_begin_and_end_with_it_and_are_never_too_wide(text: str, most: int) -> None:
    windows = TextWindowing(width=most).windows(text)
    assert all(width(window) <= most for window in windows)
    if width(text) <= most:
        assert windows == [text]
    assert text.startswith(windows[0])
    assert text.endswith(windows[-1])


def test_windows_of_text_leave_no_character_out() -> None:
    text = "".join(chr(0x4E00 + number) + chr(0x61 + number % 26) for number in range(3000))  # no two pairs are alike
    at = 0
    for window in TextWindowing(width=500).windows(text):
        start = text.index(window)
        assert start <= at
        at = start + len(window)
    assert at == len(text)


@pytest.mark.parametrize("character", ["a", "é", "각", "🎉", "ﷺ"])
def test_a_window_of_one_character_over_and_over_is_never_too_wide(character: str) -> None:
    windows = TextWindowing(width=500).windows(character * 3000)
    assert max(map(width, windows)) <= 500
    assert min(map(width, windows)) > 400, "and no scrap"


def test_the_name_of_windows_of_text_says_that_they_are_measured_in_bytes() -> None:
    assert TextWindowing(width=500).name == "500b-overlap62-even-mean"


@given(lengths=st.lists(st.integers(1, 600)))
def test_batches_hold_each_window_once_within_the_budget_and_little_padding(lengths: list[int]) -> None:
    grouped = batches(lengths)
    assert sorted(index for batch in grouped for index in batch) == list(range(len(lengths)))
    for batch in grouped:
        within = [lengths[index] for index in batch]
        assert len(batch) == 1 or len(batch) * max(within) <= BATCH_TOKENS
        assert min(within) >= 0.75 * max(within)


def by_first_token(windows: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
    """Stands for a model: a window's vector points along axis 0 or 1 after its first token of text, of unequal length."""
    return np.array([[3.0, 0.0] if window[1] == 0 else [0.0, 7.0] for window in windows], dtype=np.float32)


def test_a_long_text_is_the_unit_mean_of_its_unit_windows() -> None:
    long = [0] + [9] * (2 * MINE.capacity - MINE.overlap - 1)
    short = [0, 9]
    vectors = embed_in_windows([short, long, [9]], MINE, by_first_token)
    np.testing.assert_allclose(vectors, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]])


@pytest.mark.parametrize("row", [[float("nan"), 1.0], [float("inf"), 1.0], [0.0, 0.0]], ids=str)
def test_a_vector_without_direction_is_a_failure_of_the_model(row: list[float]) -> None:
    with pytest.raises(ModelFailed, match="not finite or has no direction"):
        embed_in_windows([[5], [6]], MINE, lambda _: np.array([[1.0, 0.0], row], dtype=np.float32))


def test_windows_that_cancel_out_are_a_failure_of_the_model() -> None:
    long = [0] + [9] * (2 * MINE.capacity - MINE.overlap - 1)
    with pytest.raises(ModelFailed, match="no direction"):
        embed_in_windows([long], MINE, lambda windows: by_first_token(windows) @ np.array([[1.0, 0.0], [-1.0, 0.0]]))


def test_a_model_that_answers_for_too_few_windows_is_a_failure() -> None:
    with pytest.raises(ModelFailed, match=r"shape \(1, 2\) for 2 windows"):
        embed_in_windows([[5], [6]], MINE, lambda windows: by_first_token(windows)[:1])


def test_only_lone_surrogates_are_replaced() -> None:
    assert encodable("a\ud800b") == "a\ufffdb"
    assert encodable("\ud83c\udf89") == "\U0001f389"
    assert encodable("déjà \x00 \U0001f389") == "déjà \x00 \U0001f389"
