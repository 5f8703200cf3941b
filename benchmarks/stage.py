"""What a run lends its benches: who is told how far it is, sentences to make lessons of, and databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Generic, Self, TypeVar

from benchmarks.corpus import Material, embed_material
from benchmarks.ground import Ground, open_ground
from benchmarks.growing import Grown, material_for
from benchmarks.progress import Progress
from benchmarks.recall import Town, build_town

Made = TypeVar("Made")


class _Shared(Generic[Made]):
    """Something that several benches use and none should make twice; where it cannot be made, each of them is told so."""

    def __init__(self, make: Callable[[ExitStack], Made]) -> None:
        self._make = make
        self._stack = ExitStack()
        self._made: list[Made] = []
        self._failed: Exception | None = None

    def get(self) -> Made:
        if self._failed is not None:
            raise RuntimeError(f"what it needs could not be made: {self._failed}") from self._failed
        if not self._made:
            try:
                self._made.append(self._make(self._stack))
            except Exception as error:
                self._failed = error
                raise
        return self._made[0]

    def leave(self) -> None:
        """Clears it away, so that it takes no memory and no disk from what is measured afterwards."""
        self._made.clear()
        self._stack.close()


class Stage:
    """`lessons` are those of the town, `most` those that the growing tribe ends with."""

    def __init__(self, progress: Progress, *, lessons: int, most: int) -> None:
        self.progress = progress
        self.most = most
        self.postgres: str | None = None
        self.pgvector: str | None = None
        self._lessons = lessons
        self._material = _Shared(self._embed)
        self._town = _Shared(self._build_town)
        self._grown = _Shared(self._open_grown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    @property
    def material(self) -> Material:
        return self._material.get()

    @property
    def town(self) -> Town:
        """The large tribe among many small ones, for all benches that want it."""
        return self._town.get()

    @property
    def grown(self) -> Grown:
        """The tribe that grows step by step, for all benches that want a very large one."""
        return self._grown.get()

    @contextmanager
    def ground(self, settings: Mapping[str, str] | None = None) -> Iterator[Ground]:
        """Gives a database of one bench's own; `settings` are PostgreSQL's."""
        with open_ground(settings=settings) as ground:
            self.postgres, self.pgvector = ground.server_version, ground.pgvector_version
            yield ground

    def leave(self) -> None:
        """Clears away every shared database."""
        self._town.leave()
        self._grown.leave()

    def _embed(self, _: ExitStack) -> Material:
        self.progress.step("embedding sentences to make lessons of")
        return embed_material()

    def _build_town(self, stack: ExitStack) -> Town:
        material = self.material
        return build_town(stack.enter_context(self.ground()), material, self._lessons, self.progress)

    def _open_grown(self, stack: ExitStack) -> Grown:
        material = material_for(self.most, self.progress)
        return Grown(stack.enter_context(self.ground()), material)
