"""A transcript in pieces that fit a model's window; neighbours overlap, so that what lies across a cut is seen whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tributary.core.transcript import Transcript, TurnRole

SLICE = 8_000
"""A longer turn is shown in slices of so many characters."""
_SLICES_SHARE = 500
_OVERLAP = 4_000
_AROUND = 60
"""Characters that JSON, number and role of a turn take, about."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A turn, or a slice of one."""

    number: int
    role: TurnRole
    text: str

    @property
    def size(self) -> int:
        return len(self.text) + _AROUND


Piece = tuple[Part, ...]


def pieces_of(transcript: Transcript, *, window: int) -> list[Piece]:
    """Returns the turns that say something, in order, in pieces of at most `window` characters (2 * SLICE at least).

    A piece begins with the last turns of the one before, as far as they have 4,000 characters together.
    """
    pieces: list[Piece] = []
    current: list[Part] = []
    fresh = 0
    for part in _parts(transcript):
        if fresh and _size(current) + part.size > window:
            pieces.append(tuple(current))
            current, fresh = _tail(current), 0
        current.append(part)
        fresh += 1
    if fresh:
        pieces.append(tuple(current))
    return pieces


def _parts(transcript: Transcript) -> Iterator[Part]:
    for number, turn in enumerate(transcript.turns, 1):
        text = turn.text.strip()
        step = SLICE - _SLICES_SHARE
        starts = range(0, max(1, len(text) - _SLICES_SHARE), step) if text else ()
        for start in starts:
            yield Part(number=number, role=turn.role, text=text[start : start + SLICE])


def _tail(parts: list[Part]) -> list[Part]:
    kept: list[Part] = []
    for part in reversed(parts):
        if _size(kept) + part.size > _OVERLAP:
            break
        kept.insert(0, part)
    return kept


def _size(parts: list[Part]) -> int:
    return sum(part.size for part in parts)
