"""What a learn wants to commit, what it has read, and what it is told when the commit is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.decision import ScreenFinding
from tributary.core.lesson import Draft
from tributary.core.outcome import Candidate, Policy


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """All of a learn that does not depend on what the tribe believes. `embedding` is pgvector's text form."""

    principal: Principal
    draft: Draft
    lesson_id: UUID
    decision_id: UUID
    key: str
    request_digest: bytes
    content_hash: bytes
    subject_key: str | None
    terms: tuple[str, ...]
    space_id: int
    embedding: str
    screening: ScreenFinding
    settles: bool = False
    """The lesson is stored already, as pending."""
    replans: int = 0


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was written: something that the plan depends on was committed after its reading."""

    tick: int
    at: datetime
    role: Role
    serving: bool
    policy: Policy
    changed: tuple[Candidate, ...]
    fresh: tuple[Candidate, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read at one tick. `farthest` is the distance of the farthest vector candidate, None when they were too few."""

    tick: int
    at: datetime
    role: Role
    policy: Policy
    rare: tuple[str, ...]
    farthest: float | None
    candidates: Mapping[UUID, Candidate]

    def after(self, refused: Refused) -> Reading:
        """Returns this reading brought forward to the tick at which a commit was refused."""
        merged = dict(self.candidates)
        merged.update((one.lesson.lesson_id, one) for one in (*refused.changed, *refused.fresh))
        return replace(self, tick=refused.tick, at=refused.at, role=refused.role, policy=refused.policy, candidates=merged)
