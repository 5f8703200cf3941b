"""Signed feature hashing of a text's terms: an embedder for tests, without a model.

Texts that share terms are similar, in proportion; synonyms are not. So it is fit to drive the machinery and unfit to serve.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tributary.core.errors import BadSetting
from tributary.core.ports import SpaceDefinition, Vector
from tributary.core.terms import terms_of
from tributary.models.embedders.windows import encodable

FLOOR = 0.25
"""Of unrelated texts of ten terms, in 256 dimensions, 999 pairs in 1,000 stay below it (measured over 2,000 texts)."""

_NARROWEST, _WIDEST = 64, 384
# A piece of so many characters has fewer terms than terms_of returns at most, so that none is left out.
_PIECE_CHARACTERS = 180


class HashedEmbedder:
    """Embeds by hashing terms; deterministic over processes and machines. For tests only."""

    tests_only: ClassVar[bool] = True
    """The service refuses to serve with an embedder that says so."""

    def __init__(self, *, dimension: int = 256) -> None:
        if not _NARROWEST <= dimension <= _WIDEST:
            raise BadSetting(f"hashed embedder: dimension is {dimension}; must be from {_NARROWEST} to {_WIDEST}")
        self._space = SpaceDefinition(
            model="hashed-terms-for-tests",
            pooling="signed-sum",
            windowing="whole",
            quantisation="exact",
            dimension=dimension,
            floor=FLOOR,
        )

    @property
    def space(self) -> SpaceDefinition:
        """The space of hashed terms of this dimension."""
        return self._space

    def warm(self) -> None:
        """Does nothing: there is nothing to load."""

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order: (dimension,), unit norm."""
        return [self._vector(encodable(text)) for text in texts]

    def _vector(self, text: str) -> Vector:
        sums = [0.0] * self._space.dimension
        for term in _terms(text):
            self._add(sums, term)
        if not any(sums):  # a text without terms, or one whose terms cancel out
            self._add(sums, text)
        norm = math.sqrt(math.fsum(value * value for value in sums))
        return [value / norm for value in sums]

    def _add(self, sums: list[float], feature: str) -> None:
        number = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest())
        sums[(number >> 1) % len(sums)] += 1.0 if number & 1 else -1.0


def _terms(text: str) -> Iterator[str]:
    # Normalised first: terms_of does it too, and what grows by it must not grow past a piece.
    rest = unicodedata.normalize("NFKC", text).casefold()
    while rest:
        end = _PIECE_CHARACTERS
        if len(rest) > end:
            end = max((at + 1 for at, character in enumerate(rest[:end]) if character.isspace()), default=end)
        yield from terms_of(rest[:end])
        rest = rest[end:]
