"""How a tribe stands and is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, kw_only=True)
class Calls:
    """How often an operation was called: today, and in the last seven days with today (UTC)."""

    operation: str
    today: int
    last_7_days: int


@dataclass(frozen=True, kw_only=True)
class AgentCalls:
    agent_id: UUID
    name: str
    calls: tuple[Calls, ...]


@dataclass(frozen=True, kw_only=True)
class SpaceVectors:
    """How many believed lessons have a vector in a space."""

    space: str
    state: str
    vectors: int


@dataclass(frozen=True, kw_only=True)
class Stats:
    """A tribe's counters as of a tick. Calls are counted best effort; reads come in some seconds late."""

    tick: int
    at: datetime
    lessons: Mapping[str, int]
    """By status; those that no lesson has are left out."""
    disputes: int
    challenges: int
    """Open ones, both."""
    spaces: tuple[SpaceVectors, ...]
    agents: Mapping[str, int]
    """By role, those that are not revoked."""
    calls: tuple[Calls, ...]
    by_agent: tuple[AgentCalls, ...] | None
    """For curators only."""
