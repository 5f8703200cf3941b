"""The embedders of a process, by the space that each gives. There may be two: one, and the one that is to follow it."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.core.errors import BadSetting
from tributary.core.ports import Embedder
from tributary.spaces.drift import CheckedEmbedder
from tributary.store import Reading
from tributary.telemetry import Event, log

FIRST = "TRIBUTARY_EMBEDDER"
NEXT = "TRIBUTARY_NEXT_EMBEDDER"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """An embedder, and the value of its setting that chose it."""

    value: str
    embedder: Embedder


class Embedders:
    """Gives the embedder of a space. The second is not loaded before a tribe has a space that the first does not give."""

    def __init__(self, database: Reading, first: Choice, following: Choice | None = None) -> None:
        self._first = CheckedEmbedder(database, first.embedder, setting=f"{FIRST}={first.value}")
        self._next = (
            None if following is None else CheckedEmbedder(database, following.embedder, setting=f"{NEXT}={following.value}")
        )

    @property
    def first(self) -> Embedder:
        """The embedder that new tribes serve from."""
        return self._first

    @property
    def following(self) -> Embedder:
        """The embedder that is to follow; raises BadSetting when none is set up."""
        if self._next is None:
            raise BadSetting(f"{NEXT}: is not set; set it to the embedder that the tribe is to serve from in the end")
        return self._next

    def giving(self, space: str) -> Embedder | None:
        """Returns the embedder of the space of this name, None when neither gives it; raises what loading the second raises."""
        if self._first.space.name == space:
            return self._first
        return self._next if self._next is not None and self._next.space.name == space else None

    def serving(self, space: str | None) -> Embedder:
        """Returns the embedder of the space that a tribe serves from; raises BadSetting, naming both, when neither gives it."""
        found = None if space is None else self.giving(space)
        if found is None:
            why = f"{FIRST}: this tribe serves from the embedding space '{space}', but {self._given()}"
            log.event(Event.SPACE_REFUSED, level=log.WARNING, space=space, why=why)  # a caller over HTTP is not told
            raise BadSetting(why)
        return found

    def _given(self) -> str:
        first = f"{self._first.setting} gives '{self._first.space.name}'"
        if self._next is None:
            return f"{first}; set it, or {NEXT}, to the embedder that the tribe serves from"
        second = f"{self._next.setting} gives '{self._next.space.name}'"
        return f"{first} and {second}; set one of the two to the embedder that the tribe serves from"
