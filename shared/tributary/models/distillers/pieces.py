"""A transcript in pieces that fit a model's window; neighbours overlap, so that what lies across a cut is seen whole.

All sizes are in characters as they are sent: what a fence writes as an escape takes up to twelve of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from tributary.core.transcript import Transcript, TurnRole
from tributary.models.fence import AROUND, written_length

SLICE = 8_000
"""A longer turn is shown in slices of so many characters."""
_SLICES_SHARE = 500
_OVERLAP = 4_000
_AROUND = 60
"""Characters that JSON, number and role of a turn take, at most."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A turn, or a slice of one."""

    number: int
    role: TurnRole
    text: str

    @cached_property
    def size(self) -> int:
        return sum(map(written_length, self.text)) + _AROUND


Piece = tuple[Part, ...]


def pieces_of(transcript: Transcript, *, window: int) -> list[Piece]:
    """Returns the turns that say something, in order, in pieces of at most `window` characters (2 * SLICE at least), the fence
    around each included.

    A piece begins with the last turns of the one before, as far as they have 4,000 characters together.
    """
    pieces: list[Piece] = []
    current: list[Part] = []
    fresh = 0
    for part in _parts(transcript):
        if fresh and AROUND + _size(current) + part.size > window:
            pieces.append(tuple(current))
            current, fresh = _tail(current), 0
        current.append(part)
        fresh += 1
    if fresh:
        pieces.append(tuple(current))
    return pieces


def _parts(transcript: Transcript) -> Iterator[Part]:
    for number, turn in enumerate(transcript.turns, 1):
        for text in _slices(turn.text.strip()):
            yield Part(number=number, role=turn.role, text=text)


def _slices(text: str) -> Iterator[str]:
    """Yields the text in slices of at most SLICE characters, each beginning with the last _SLICES_SHARE of the one before."""
    sizes = list(accumulate(map(written_length, text), initial=0))
    start = 0
    while start < len(text):
        end = bisect_right(sizes, sizes[start] + SLICE) - 1
        yield text[start:end]
        if end == len(text):
            return
        start = bisect_left(sizes, sizes[end] - _SLICES_SHARE)


def _tail(parts: list[Part]) -> list[Part]:
    kept: list[Part] = []
    for part in reversed(parts):
        if _size(kept) + part.size > _OVERLAP:
            break
        kept.insert(0, part)
    return kept


def _size(parts: list[Part]) -> int:
    return sum(part.size for part in parts)
