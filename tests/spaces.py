"""Embedders that tests of spaces steer, and shorthands for what an operator does to a tribe's spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tests.tribes import Tribal
from tributary.core.errors import ModelFailed
from tributary.core.ports import Embedder, SpaceDefinition, Vector
from tributary.core.requests import Recalled
from tributary.core.space import TribeSpace
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, open_memory, open_operator
from tributary.service.operator import Operator
from tributary.service.wiring import Adapters

OLD = HashedEmbedder().space.name


class Projected:
    """Another embedder's vectors, turned into a space of its own by an isometry: similarities in a space stay as they were."""

    def __init__(self, embedder: Embedder | None = None, *, dimension: int = 1024, seed: int = 1) -> None:
        self._embedder = embedder or HashedEmbedder()
        wide = np.random.default_rng(seed).standard_normal((dimension, self._embedder.space.dimension))
        self._isometry = np.linalg.qr(wide)[0].T
        self.space: SpaceDefinition = replace(self._embedder.space, model=f"projected-{seed}", dimension=dimension)

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        vectors: list[Vector] = (np.array(self._embedder.embed(texts)) @ self._isometry).tolist()
        return vectors


NEW = Projected().space.name


class Steered:
    """An embedder that counts what it embeds, can be away, can drift, and does something before it embeds."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or HashedEmbedder()
        self.texts = 0
        self.calls = 0
        self.fails = False
        self.drifted_to = 1.0
        """Cosine of what it gives with what it ought to give."""
        self.before: Callable[[Sequence[str]], None] = lambda _: None

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        self.before(texts)
        if self.fails:
            raise ModelFailed("the embedder cannot be reached")
        self.calls += 1
        self.texts += len(texts)
        return [_drifted(np.array(one), self.drifted_to) for one in self._embedder.embed(texts)]


def _drifted(vector: np.ndarray, cosine: float) -> Vector:
    if cosine == 1.0:
        return list(vector.tolist())
    aside = np.random.default_rng(7).standard_normal(len(vector))
    aside -= (aside @ vector) * vector
    turned = cosine * vector + np.sqrt(1 - cosine**2) * aside / np.linalg.norm(aside)
    return list(turned.tolist())


@contextmanager
def operating(tribal: Tribal, **adapters: Embedder | None) -> Iterator[Operator]:
    with open_operator(tribal.settings, adapters=replace(tribal.adapters, **adapters)) as operator:  # type: ignore[arg-type]
        yield operator


@contextmanager
def another_process(tribal: Tribal, **adapters: object) -> Iterator[Memory]:
    """Another memory over the same tribe, with a cache of its own."""
    changed: Adapters = replace(tribal.adapters, **adapters)  # type: ignore[arg-type]  # the test's own keywords
    with open_memory(tribal.settings, adapters=changed) as memory:
        yield memory


def create(tribal: Tribal) -> TribeSpace:
    with operating(tribal) as operator:
        return operator.create_space(tribal.name)


def build(tribal: Tribal, name: str | None = None) -> tuple[int, int]:
    """Returns how many vectors were made and how many are left."""
    with operating(tribal) as operator:
        built = operator.build_space(tribal.name, name)
        return built.made, built.left


def switch(tribal: Tribal, name: str | None = None, *, exact: bool = False) -> int:
    with operating(tribal) as operator:
        return operator.switch_space(tribal.name, name, exact=exact).tick


def drop(tribal: Tribal, name: str) -> None:
    with operating(tribal) as operator:
        operator.drop_space(tribal.name, name)


def spaces(tribal: Tribal) -> dict[str, str]:
    """Returns the state of each space of the tribe by name."""
    with operating(tribal) as operator:
        return {one.name: one.state.value for one in operator.spaces(tribal.name)}


def vectors(tribal: Tribal) -> dict[str, int]:
    """Returns how many vectors each space holds, by name."""
    found = tribal.rows(
        """SELECT s.name, count(v.lesson_id) AS n FROM tributary.tribe_space t JOIN tributary.space s USING (space_id)
           LEFT JOIN tributary.lesson_vector v USING (tribe_id, space_id) WHERE t.tribe_id = %s GROUP BY 1""",
        tribal.tribe_id,
    )
    return {str(row["name"]): int(str(row["n"])) for row in found}


def texts(recalled: Recalled) -> list[str]:
    return [hit.lesson.text for hit in recalled.hits]


def following(tribal: Tribal) -> Steered:
    assert isinstance(tribal.adapters.next_embedder, Steered)
    return tribal.adapters.next_embedder


def facts(tribal: Tribal, count: int, *, first: int = 0) -> list[str]:
    known = [f"the widget{number} of the gadget{number} needs a sprocket{number}" for number in range(first, first + count)]
    for text in known:
        tribal.learn(tribal.curator, text)
    return known


def moved(tribal: Tribal) -> int:
    create(tribal)
    assert build(tribal)[1] == 0
    return switch(tribal)
