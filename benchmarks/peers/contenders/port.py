"""What every contender is asked to do, and what it is given. Imports nothing that the peers' interpreter does not have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

ADDED = "added"
"""What becomes of an add where nothing is looked at: a row."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """One lesson to add. `situation` is for the contender that keeps it apart; the others get it before the text."""

    text: str
    situation: str = ""
    tags: Mapping[str, str]

    @property
    def whole(self) -> str:
        return f"{self.situation}\n{self.text}" if self.situation else self.text


class Given:
    """The texts of a run with their vectors, made beforehand: no figure holds the making of one, and all have the same."""

    def __init__(self, texts: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        self.texts = texts
        self.vectors = vectors
        self._rows = {text: row for row, text in enumerate(texts)}

    @classmethod
    def read(cls, folder: Path) -> Given:
        return cls(json.loads((folder / "texts.json").read_text(encoding="utf-8")), np.load(folder / "vectors.npy"))

    def write(self, folder: Path) -> None:
        (folder / "texts.json").write_text(json.dumps(list(self.texts)), encoding="utf-8")
        np.save(folder / "vectors.npy", self.vectors)

    def vector(self, text: str) -> list[float]:
        """Returns the unit vector of a text; raises KeyError for one that was not given."""
        numbers: list[float] = self.vectors[self._rows[text]].tolist()
        return numbers


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a contender works: a database of its own, a scratch folder, and as many connections as threads will use it."""

    url: str
    folder: Path
    given: Given
    threads: int


class Store(Protocol):
    """A contender. A `scope` keeps lessons apart from those of other scopes, by whatever it has for that.

    `add` and `search` are what its users call, once a thread `number`; `fill` is the quickest way that it has to many rows.
    """

    def begin(self, scope: str) -> None:
        """Makes ready what a scope needs before its first lesson; never timed."""

    def fill(self, scope: str, lessons: Sequence[Said]) -> None: ...

    def add(self, number: int, scope: str, said: Said) -> str:
        """Adds one lesson and tells what became of it."""

    def search(self, number: int, scope: str, query: str, limit: int, tags: Mapping[str, str]) -> Sequence[str]:
        """Returns the texts found, best first, among lessons that have all of the tags."""

    def count(self, scope: str, said: Said) -> int:
        """Returns how many rows with this text a search may give."""

    def about(self) -> Mapping[str, Any]:
        """Returns versions, and what of the settings a reader must know."""

    def close(self) -> None: ...
