"""In which words two texts differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate

COMPARED_WORDS = 2000
"""Longer stretches without a common beginning or end differ as wholes."""
MOST_STEPS = 200_000
"""So do stretches that would take more steps to compare, some 20 ms: what people write takes a few of them."""
_WORD = re.compile(r"\w(?:[\w.'’:/@-]*\w)?|[^\w\s]+")
_LONG = 200
_ALIKE = 0.3
"""Texts that have less than this in common differ as wholes: marks would hide more than they show."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of a text; `apart` when the other text does not say it."""

    text: str
    apart: bool


def compare(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Returns both texts in pieces, which joined are the text again.

    Nothing is apart in texts that differ in no word, or that have hardly one in common.
    """
    ours, theirs = list(_WORD.finditer(one)), list(_WORD.finditer(other))
    spans, alike = _apart([word.group() for word in ours], [word.group() for word in theirs])
    if alike < _ALIKE:
        return _pieces(one, ours, ()), _pieces(other, theirs, ())
    return (
        _pieces(one, ours, [(first, last) for first, last, _, _ in spans]),
        _pieces(other, theirs, [(first, last) for _, _, first, last in spans]),
    )


def _apart(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[tuple[int, int, int, int]], float]:
    """Returns the spans of words that differ, and how much is alike, from 0 to 1."""
    begin = _common(ours, theirs)
    end = _common(ours[begin:][::-1], theirs[begin:][::-1])
    ours_left, theirs_left = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    whole = [(0, len(ours_left), 0, len(theirs_left))]
    if max(len(ours_left), len(theirs_left)) > COMPARED_WORDS:
        spans, matched = whole, 0
    else:
        matcher = _Bounded(ours_left, theirs_left)
        try:
            spans = [(i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
            matched = sum(block.size for block in matcher.get_matching_blocks())
        except _TooManyStepsError:
            spans, matched = whole, 0
    words = len(ours) + len(theirs)
    alike = 2 * (begin + end + matched) / words if words else 1.0
    return [(begin + i, begin + j, begin + k, begin + m) for i, j, k, m in spans], alike


class _TooManyStepsError(Exception):
    """The comparison would take too long."""


class _Bounded(SequenceMatcher[str]):
    """Gives up, with _TooManyStepsError, before it takes more than MOST_STEPS.

    It looks for the longest stretch in common, then on both sides of it, and so on. Each time it goes through the words of one
    text, and for each through its places in the other: where each stretch leaves all the rest on one side, that is cubic.
    """

    def __init__(self, ours: Sequence[str], theirs: Sequence[str]) -> None:
        super().__init__(a=ours, b=theirs)
        places = Counter(theirs)
        popular = len(theirs) // 100 + 1 if len(theirs) >= _LONG else len(theirs)  # the matcher looks at no place of those
        looked_at = (places[word] if places[word] <= popular else 0 for word in ours)
        self._before = [0, *accumulate(1 + one for one in looked_at)]
        self._left = MOST_STEPS

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Returns the longest stretch in common; raises _TooManyStepsError."""
        self._left -= self._before[-1 if ahi is None else ahi] - self._before[alo]
        if self._left < 0:
            raise _TooManyStepsError
        return super().find_longest_match(alo, ahi, blo, bhi)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Returns with how many of the same words both begin."""
    shorter = min(len(ours), len(theirs))
    return next((at for at in range(shorter) if ours[at] != theirs[at]), shorter)


def _pieces(text: str, words: Sequence[re.Match[str]], apart: Sequence[tuple[int, int]]) -> tuple[Piece, ...]:
    def stretches() -> Iterator[tuple[int, int, bool]]:
        at = 0
        for first, last in apart:
            if first < last:
                start, end = words[first].start(), words[last - 1].end()
                yield at, start, False
                yield start, end, True
                at = end
        yield at, len(text), False

    return tuple(Piece(text=text[start:end], apart=differs) for start, end, differs in stretches() if start < end)
