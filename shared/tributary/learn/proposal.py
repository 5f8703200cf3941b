"""What a learn wants to commit, what it has read, and what it is told when the commit is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from tributary.core.action import Completion
from tributary.core.agent import Principal, Role
from tributary.core.curation import Ending
from tributary.core.decision import ScreenFinding, VerdictKind
from tributary.core.history import Citation
from tributary.core.lesson import Draft, Status
from tributary.core.outcome import Asked, Candidate
from tributary.core.policy import Policy
from tributary.spaces import Placed


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """A curator's word that ends a dispute. `seen_tick` is when it was looked at: what came into it later is not decided."""

    dispute_id: UUID
    ending: Ending
    rationale: str | None
    seen_tick: int | None

    def document(self) -> dict[str, object]:
        return {
            "dispute_id": str(self.dispute_id),
            "ending": self.ending.value,
            "rationale": self.rationale,
            "seen_tick": self.seen_tick,
        }


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A lesson that is stored already and is given another standing.

    stands      the status that it must still have when that is committed
    actor       who asks for it, with the role that this needs; None when a worker settles it
    resolution  the dispute that this ends
    forced      verdicts that are not asked for: what a curator said of pairs, or earlier verdicts
    reviews     cases for the review queue that come of it
    """

    stands: Status
    actor: Principal | None = None
    resolution: Resolution | None = None
    forced: Mapping[UUID, VerdictKind] = field(default_factory=dict)
    reviews: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """All of a learn that does not depend on what the tribe believes. `placed` is its embedding where the tribe serves from.

    `principal` is the lesson's author, with the role that the outcome is derived for.
    """

    principal: Principal
    draft: Draft
    lesson_id: UUID
    decision_id: UUID
    key: str
    request_digest: bytes
    content_hash: bytes
    text_hash: bytes
    subject_key: str | None
    terms: tuple[str, ...]
    placed: Placed
    screening: ScreenFinding
    ahead: Placed | None = None
    """Its embedding in the space that the tribe builds, where it builds one and this process can embed in it."""
    stored: Stored | None = None
    """None when the lesson is new."""
    contests: UUID | None = None
    """The believed lesson that this one speaks against, whatever a judge says."""
    citations: tuple[Citation, ...] = ()
    """The receipts that the writer cited."""
    completes: Completion | None = None
    """The action that is completed when it is committed."""
    replans: int = 0

    @property
    def space_id(self) -> int:
        return self.placed.space_id

    @property
    def embedding(self) -> str:
        return self.placed.embedding

    @property
    def asked(self) -> Asked:
        resolution = self.stored.resolution if self.stored else None
        return Asked(
            ending=resolution.ending if resolution else None,
            contests=self.contests,
            stored=self.stored is not None,
            released=self.stored is not None and self.stored.stands is Status.QUARANTINED and self.stored.actor is not None,
        )

    @property
    def actor(self) -> Principal:
        return (self.stored.actor if self.stored else None) or self.principal

    @property
    def needs(self) -> Role | None:
        """The role that the actor must have when it is committed; None for a worker, which has none."""
        if self.stored is None:
            return Role.WRITER
        return None if self.stored.actor is None else Role.CURATOR


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was written: something that the plan depends on was committed after its reading.

    `changed` candidates (or what speaks against them) stand otherwise, `fresh` lessons would have been candidates. With neither,
    the writer's role, the policy or the space that the tribe serves from is another by now.
    """

    changed: int
    fresh: int


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read at one tick. `farthest` is the distance of the farthest vector candidate, None when they were too few.

    `opponents` are the believed lessons that earlier verdicts made rivals of the stored lesson.
    """

    tick: int
    at: datetime
    role: Role
    policy: Policy
    rare: tuple[str, ...]
    farthest: float | None
    candidates: Mapping[UUID, Candidate]
    building: int | None = None
    """The space that the tribe builds beside the one that it serves from."""
    opponents: frozenset[UUID] = frozenset()
