"""Long texts: cut into overlapping windows, embedded each, and averaged.

A text that fits one window is embedded as the model's authors meant it. A longer one is covered by as few windows as an
overlap of an eighth allows, spread evenly: they are all equally long, so that their mean favours no part of the text and
no window is a scrap. Each window's vector is brought to unit norm before the mean, and the mean again after it.

Where the model runs here, windows are measured in its tokens. Where its tokenizer is not at hand, they are measured in a
unit that no text has fewer of than tokens (`TextWindowing`).
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from tributary.core.errors import BadSetting, ModelFailed
from tributary.core.ports import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.floating]

BATCH_TOKENS = 256
"""Most tokens, padding included, that go through a model at once. Larger batches are slower on a CPU: over 888 runbook
sentences MiniLM took 5.8, 6.0, 6.6 and 7.2 ms a sentence at 256, 512, 1,024 and 2,048 tokens, and kept more memory."""

_FILLED = 0.75
"""Windows share a batch only when the shortest fills this much of the longest: padding is work for nothing."""

_LEAST_NORM = 1e-6


@dataclass(frozen=True, kw_only=True)
class Windowing:
    """How texts are cut for one model."""

    tokens: int
    """Most tokens of a window, special ones included."""
    prefix: tuple[int, ...]
    """Tokens that open every window."""
    suffix: tuple[int, ...]
    """Tokens that close every window."""

    def __post_init__(self) -> None:
        if self.capacity <= self.overlap:
            raise BadSetting(f"a window of {self.tokens} tokens leaves {self.capacity} for text; that is too few")

    @property
    def name(self) -> str:
        """Names the way of cutting within a space's definition."""
        return f"{self.tokens}t-overlap{self.overlap}-even-mean"

    @property
    def capacity(self) -> int:
        """Most tokens of text in a window."""
        return self.tokens - len(self.prefix) - len(self.suffix)

    @property
    def overlap(self) -> int:
        """Fewest tokens that a window shares with the next, so that a phrase cut by one stands whole in the other."""
        return self.tokens // 8

    def spans(self, length: int) -> list[tuple[int, int]]:
        """Returns [start, end) of each window over `length` tokens of text, in order; one span when they fit."""
        if length <= self.capacity:
            return [(0, length)]
        slack = length - self.capacity
        steps = -(-slack // (self.capacity - self.overlap))
        starts = [step * slack // steps for step in range(steps + 1)]
        return [(start, start + self.capacity) for start in starts]

    def windows(self, text: Sequence[int]) -> list[list[int]]:
        """Returns the windows of a text's tokens, ready for the model."""
        return [[*self.prefix, *text[start:end], *self.suffix] for start, end in self.spans(len(text))]


@dataclass(frozen=True, kw_only=True)
class TextWindowing:
    """How texts are cut for a model whose tokenizer is not at hand.

    A character is as wide as its bytes of UTF-8, or as its characters in NFKC when these are more: tokenizers take text apart
    into no more pieces than that. So a window as wide as the tokens that a model takes always fits it.
    """

    width: int
    """Most that a window's characters are wide together."""

    @property
    def name(self) -> str:
        """Names the way of cutting within a space's definition."""
        return f"{self.width}b-overlap{self._spans.overlap}-even-mean"

    def windows(self, text: str) -> list[str]:
        """Returns the text as it is when it fits one window, else its windows in order. No character is left out."""
        if text.isascii():
            return [text[start:end] for start, end in self._spans.spans(len(text))]
        ends = list(accumulate(map(_width, text)))
        starts = [0, *ends[:-1]]
        return [text[bisect_left(starts, start) : bisect_right(ends, end)] for start, end in self._spans.spans(ends[-1])]

    @property
    def _spans(self) -> Windowing:
        return Windowing(tokens=self.width, prefix=(), suffix=())


def _width(character: str) -> int:
    if character.isascii():
        return 1
    return max(len(character.encode()), len(unicodedata.normalize("NFKC", character)))


def embed_in_windows(
    texts: Iterable[Sequence[int]], windowing: Windowing, pooled: Callable[[Sequence[Sequence[int]]], Matrix]
) -> list[Vector]:
    """Returns one unit vector a text, given as tokens without special ones, in order.

    `pooled` runs the model on a batch of windows, (n) lists of tokens of unequal length, and returns (n, dimension).
    Raises ModelFailed when what it returns has another shape, is not finite, or has no direction.
    """
    import numpy as np

    windows: list[list[int]] = []
    first: list[int] = []
    for text in texts:
        first.append(len(windows))
        windows.extend(windowing.windows(text))
    if not windows:
        return []
    order: list[int] = []
    parts: list[Matrix] = []
    for batch in batches([len(window) for window in windows]):
        part = pooled([windows[index] for index in batch])
        if part.ndim != 2 or len(part) != len(batch):
            raise ModelFailed(f"the embedding model returned shape {part.shape} for {len(batch)} windows")
        order.extend(batch)
        parts.append(part)
    vectors = np.empty((len(windows), parts[0].shape[1]), dtype=np.float64)
    vectors[order] = np.concatenate(parts)
    means = np.add.reduceat(_unit(vectors), first, axis=0)
    return list(_unit(means).tolist())


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Returns the indices of `lengths` in groups of like length, each of at most BATCH_TOKENS after padding or of one."""
    grouped: list[list[int]] = []
    shortest = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[index]
        fits = grouped and (len(grouped[-1]) + 1) * length <= BATCH_TOKENS and shortest >= _FILLED * length
        if fits:
            grouped[-1].append(index)
        else:
            grouped.append([index])
            shortest = length
    return grouped


def encodable(text: str) -> str:
    """Returns `text` with lone surrogates, which no tokenizer takes, as U+FFFD; other text as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unit(rows: Matrix) -> Matrix:
    import numpy as np

    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms < _LEAST_NORM).any():
        raise ModelFailed("the embedding model returned a vector that is not finite or has no direction")
    unit: Matrix = rows / norms
    return unit
