"""What the memory can see of itself: observations, each of which says what is there or why that cannot be told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tributary.core.garden import Gardening
from tributary.core.receipt import SearchPath

Seen = str | int | float | bool | tuple[str, ...]
"""What was observed."""


class About(StrEnum):
    """What an observation is about."""

    WRITER = "writer"
    READER = "reader"
    TRIBE = "tribe"
    PROCESS = "process"


class State(StrEnum):
    OK = "ok"
    NOT_OK = "not_ok"
    UNKNOWN = "unknown"


class Unseen(StrEnum):
    """Why something cannot be told. Codes, never exception text."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    NOT_PERMITTED = "not_permitted"
    NOT_MIGRATED = "not_migrated"
    NOT_RECORDED = "not_recorded"
    """Nothing in the database says it."""
    NO_SERVING_SPACE = "no_serving_space"
    NO_TRIBE = "no_tribe"
    FAILED = "failed"
    """The database refused for another reason."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """`value` is None exactly when it is unknown, and then `cause` says why; `rule` is what `value` was held against."""

    about: About
    check: str
    state: State
    value: Seen | None = None
    rule: str | None = None
    cause: Unseen | None = None

    @classmethod
    def of(cls, about: About, check: str, value: Seen, *, ok: bool = True, rule: str | None = None) -> Observation:
        return cls(about=about, check=check, state=State.OK if ok else State.NOT_OK, value=value, rule=rule)

    @classmethod
    def unknown(cls, about: About, check: str, cause: Unseen, rule: str | None = None) -> Observation:
        return cls(about=about, check=check, state=State.UNKNOWN, cause=cause, rule=rule)


PATHS = (SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW, SearchPath.TERMS)
"""Ways to retrieve that a verdict is given on."""


@dataclass(frozen=True, kw_only=True)
class Status:
    """All observations, the paths by which a recall can find something now, and the gardener's last run.

    `gardening` is None when no run has ended yet, or when that cannot be told.
    """

    usable_paths: tuple[SearchPath, ...]
    observations: tuple[Observation, ...]
    gardening: Gardening | None = None

    @property
    def usable(self) -> bool:
        return bool(self.usable_paths)

    @property
    def warnings(self) -> tuple[Observation, ...]:
        """What is not as it should be, or cannot be told though it could be."""
        return tuple(
            one
            for one in self.observations
            if one.state is State.NOT_OK or (one.state is State.UNKNOWN and one.cause is not Unseen.NOT_RECORDED)
        )


def usable_paths(ran: Iterable[SearchPath], *, index_chosen: bool) -> tuple[SearchPath, ...]:
    """Returns the paths that can be used, from those that a recall ran and whether the planner chooses the tribe's index.

    Where vectors were searched at all they can be searched exactly: that path needs no index.
    """
    by_vector = {SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW} & set(ran)
    return tuple(
        path
        for path in PATHS
        if (path is SearchPath.VECTOR_EXACT and by_vector)
        or (path is SearchPath.VECTOR_HNSW and by_vector and index_chosen)
        or (path is SearchPath.TERMS and SearchPath.TERMS in ran)
    )
