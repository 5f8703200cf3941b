"""Replies about the memory itself: how it is used, and whether everything that a recall needs is there."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tributary.contract.models import Reply


class MeReply(Reply):
    """Who the caller is, as the tribe knows it."""

    tribe: str = Field(description="The tribe's id, as in receipts.")
    agent: str
    name: str
    role: Literal["reader", "writer", "curator"]


class CallsReply(Reply):
    """Calls by operation (UTC days). Writes count when they are let in, reads some seconds after they were answered."""

    today: dict[str, int]
    last_7_days: dict[str, int] = Field(description="Today and the six days before.")


class AgentCallsReply(Reply):
    agent: str
    name: str
    calls: CallsReply


class SpaceVectorsReply(Reply):
    space: str
    state: str
    vectors: int = Field(description="Believed lessons that have a vector in it.")


class StatsReply(Reply):
    """A tribe's counters as of a tick."""

    tick: int
    at: datetime
    lessons: dict[str, int] = Field(description="By status; those that no lesson has are left out.")
    open_disputes: int
    open_challenges: int
    spaces: list[SpaceVectorsReply]
    agents: dict[str, int] = Field(description="By role, those that are not revoked.")
    calls: CallsReply
    by_agent: list[AgentCallsReply] | None = Field(description="For curators; null for others.")


class ObservationReply(Reply):
    """Something that was looked at. Either `value` says what is there, or it is `unknown` and `cause` says why."""

    about: Literal["writer", "reader", "tribe", "process"]
    check: str
    state: Literal["ok", "not_ok", "unknown"]
    value: bool | int | float | str | list[str] | None
    rule: str | None = Field(description="What the value is held against.")
    cause: str | None = Field(
        description="`unreachable`, `timed_out`, `not_permitted`, `not_migrated`, `not_recorded`, `no_serving_space`, `no_tribe`"
        " or `failed`."
    )


class GardenRuleReply(Reply):
    """What one rule of the gardener came to."""

    rule: str = Field(description="`settle`, `rescreen`, `rejudge`, `stamp`, `evict`, `embed`, `index`, `doubt` or `prune`.")
    done: int
    left: int = Field(description="What is due and waits for another run.")
    refused: dict[str, int] = Field(description="What may not or could not be done, by code.")
    failed: str | None = Field(description="The code of the error that ended the rule.")


class GardeningReply(Reply):
    """The gardener's last run in the tribe."""

    began_at: datetime
    ended_at: datetime
    failed: str | None = Field(description="The code of what ended the run before its last rule.")
    rules: list[GardenRuleReply] = Field(description="Those that it reached, in their order.")


class PathReply(Reply):
    path: Literal["vector:exact", "vector:hnsw", "terms"]
    usable: bool


class StatusReply(Reply):
    """What can be seen of all that a recall of this tribe needs; `usable` when it has any path to find something by."""

    usable: bool
    paths: list[PathReply]
    observations: list[ObservationReply]
    gardening: GardeningReply | None = Field(description="Null when the gardener never ended a run, or when that cannot be told.")
