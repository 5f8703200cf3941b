"""In which words two texts differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

COMPARED_WORDS = 2000
"""Longer stretches without a common beginning or end differ as wholes: two of this length take up to 25 ms to compare."""
_WORD = re.compile(r"\w(?:[\w.'’:/@-]*\w)?|[^\w\s]+")
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
    if max(len(ours_left), len(theirs_left)) > COMPARED_WORDS:
        spans, matched = [(0, len(ours_left), 0, len(theirs_left))], 0
    else:
        matcher = SequenceMatcher(a=ours_left, b=theirs_left)
        spans = [(i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
        matched = sum(block.size for block in matcher.get_matching_blocks())
    words = len(ours) + len(theirs)
    alike = 2 * (begin + end + matched) / words if words else 1.0
    return [(begin + i, begin + j, begin + k, begin + m) for i, j, k, m in spans], alike


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
