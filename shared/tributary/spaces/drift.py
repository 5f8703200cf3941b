"""The drift check: an embedder is compared with what the space that it claims was begun with, before it is first used there.

The first embedder of a space leaves its vectors of a few sentences in the database. A name says what an embedder ought to
give; these say what it does give: other weights, another tokenizer or pooling under the same name would make vectors that
look right and mean something else.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Sequence
from typing import cast

from tributary.core.errors import BadSetting
from tributary.core.ports import Embedder, SpaceDefinition, Vector
from tributary.spaces.vectors import as_text, from_text
from tributary.store import Reading, statement
from tributary.telemetry import Event, log

LEAST_SIMILARITY = 0.998
"""A reference sentence's cosine under which an embedder is another one. The two forms of MiniLM's weights that share a space
agree to 0.9994 on such sentences; the nearest of the wrong embedders that were tried comes to 0.9946 on one of them
(docs/decisions/0011-drift-is-refused.md)."""

SENTENCES = (
    "The nightly backup of the orders database failed because the disk of the replica was full.",
    "Restart the payment workers one after another, and wait until each has drained its queue.",
    "The deploy API answers 429 until the header X-Batch: true is set; --no-cache makes no difference, see ORA-00942.",
    "Who was on call when the certificate of the load balancer expired?",
)


class CheckedEmbedder:
    """An embedder that refuses to embed in a space that it does not fit. Safe to share between threads.

    The check costs one call of the embedder and one or two of the database, once a process. Until the space and its references
    are in the database there is nothing to compare with, for one who may not write them; what could not be compared for that
    or another reason is tried at the next use.
    """

    def __init__(self, database: Reading, embedder: Embedder, *, setting: str) -> None:
        """`setting` is what chose the embedder, as 'TRIBUTARY_EMBEDDER=minilm'."""
        self._database = database
        self._embedder = embedder
        self._setting = setting
        self._lock = threading.Lock()
        self._fits = False
        self._refused: str | None = None

    @property
    def setting(self) -> str:
        return self._setting

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns what the embedder does; raises BadSetting when it does not fit its space, ModelFailed and Unavailable."""
        if not self._fits:
            with self._lock:
                self._check(timeout_s)
        return self._embedder.embed(texts, timeout_s=timeout_s)

    def _check(self, timeout_s: float | None) -> None:
        if self._refused is None and not self._fits:
            self._refused = self._compared(timeout_s)
        if self._refused is not None:
            log.event(Event.SPACE_REFUSED, level=log.WARNING, space=self.space.name, why=self._refused)
            raise BadSetting(self._refused)

    def _compared(self, timeout_s: float | None) -> str | None:
        """Notes that the embedder fits, or returns why it does not; neither as long as the space is not known."""
        stored, may_keep = self._stored()
        if stored is None or not (stored or may_keep):
            return None
        sentences = tuple(stored) or SENTENCES
        vectors = self._embedder.embed(sentences, timeout_s=timeout_s)
        wanted = self.space.dimension
        if (width := len(vectors[0])) != wanted:
            return self._refusal(f"gives vectors of {width} dimensions, where the space has {wanted}")
        if not stored:
            stored = self._kept(sentences, [as_text(one) for one in vectors])
            if set(stored) != set(sentences):
                return None  # another process was first, with other sentences; or the space is gone
        similar = [_cosine(made, stored[one]) for one, made in zip(sentences, vectors, strict=True)]
        if not all(one >= LEAST_SIMILARITY for one in similar):  # one that is no number is not alike either
            return self._refusal(
                "makes other vectors of the reference sentences than the space was begun with: "
                f"similarity {min(similar):.4f}, where {LEAST_SIMILARITY} is the least"
            )
        self._fits = True
        return None

    def _stored(self) -> tuple[dict[str, Sequence[float]] | None, bool]:
        """Returns the references, None without the space, and whether this login may keep some: not on a replica."""
        ((found, may_keep),) = self._database.rows(statement("spaces", "references"), {"name": self.space.name})
        return None if found is None else _vectors(found), may_keep

    def _kept(self, sentences: Sequence[str], vectors: Sequence[str]) -> dict[str, Sequence[float]]:
        found = self._database.value(
            statement("spaces", "keep_references"),
            {"name": self.space.name, "sentences": list(sentences), "vectors": list(vectors)},
        )
        return _vectors(found or {})

    def _refusal(self, what: str) -> str:
        variable = self._setting.partition("=")[0]
        return (
            f"{variable}: the embedder that {self._setting} sets up {what} (space '{self.space.name}'). It has drifted: its "
            "model, or a library that it runs on, was changed. Put back what the space was begun with, or give the changed model "
            "another name and build a space for it (docs/spaces.md)"
        )


def alike(one: str, other: str) -> bool:
    """Tells whether two vectors of a reference sentence, as text, may be one embedder's; raises ValueError for no vector."""
    return _cosine(from_text(one), from_text(other)) >= LEAST_SIMILARITY


def _vectors(document: object) -> dict[str, Sequence[float]]:
    return {sentence: from_text(vector) for sentence, vector in cast(dict[str, str], document).items()}


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != len(other):
        return 0.0
    norms = math.sqrt(_dot(one, one) * _dot(other, other))
    return _dot(one, other) / norms if norms else 0.0


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, one, other))
