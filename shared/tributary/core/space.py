"""Embedding spaces as an operator sees them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SpaceState(StrEnum):
    """What a space is to a tribe."""

    BUILDING = "building"
    SERVING = "serving"
    RETIRED = "retired"
    DROPPING = "dropping"


@dataclass(frozen=True, kw_only=True)
class TribeSpace:
    """A space of a tribe.

    vectors   those of believed lessons
    missing   lessons that need a vector there and have none
    indexed   whether the tribe has an index of its own there
    """

    number: int
    name: str
    dimension: int
    state: SpaceState
    vectors: int
    missing: int
    indexed: bool

    def document(self) -> dict[str, object]:
        return {
            "number": self.number,
            "space": self.name,
            "dimension": self.dimension,
            "state": self.state.value,
            "vectors": self.vectors,
            "missing": self.missing,
            "indexed": self.indexed,
        }


@dataclass(frozen=True, kw_only=True)
class SpaceBuilt:
    """What building a space came to: vectors made, lessons that still lack one, and whether the tribe has an index there.

    `finished` is False when the time was up first: another call goes on.
    """

    space: str
    made: int
    left: int
    indexed: bool
    finished: bool = True


@dataclass(frozen=True, kw_only=True)
class SpaceSwitched:
    """From `tick` on the tribe serves from another space."""

    before: str
    after: str
    tick: int


@dataclass(frozen=True, kw_only=True)
class SpaceDropped:
    """What removing a space came to. `forgotten` tells that no other tribe had it, so that nothing is known of it any more."""

    space: str
    vectors: int
    forgotten: bool


@dataclass(frozen=True, kw_only=True)
class IndexesBuilt:
    """What building the indexes that were missing came to: tribes by name, with the code of what went wrong where it did."""

    built: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    left: tuple[str, ...]
    """Those that there was no time for."""
