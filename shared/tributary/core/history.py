"""What happened: to one lesson, with the lessons before and after it, and to a tribe, tick by tick."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from tributary.core.decision import Outcome
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Instant, Kind, Lesson, Status
from tributary.core.receipt import Coverage, Receipt

CHAIN = 1000
"""So many lessons a side does a timeline show of the chain that a lesson stands in."""


class Happening(StrEnum):
    """What one event was. The last three are of the tribe, without a lesson."""

    LEARNED = "learned"
    PENDED = "pended"
    DISPUTED = "disputed"
    QUARANTINED = "quarantined"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    EVICTED = "evicted"
    ERASED = "erased"
    CHALLENGED = "challenged"
    CLEARED = "cleared"
    DISPUTE_SETTLED = "dispute_settled"
    SPACE_SWITCHED = "space_switched"
    RESTORED = "restored"


@dataclass(frozen=True, kw_only=True)
class Citation:
    """What is kept of a receipt that a writer cites: ids, tick and coverage, neither the question nor a text."""

    receipt_id: UUID
    tick: int
    coverage: Coverage
    query_digest: str | None
    hits: tuple[str, ...]
    """Ids of what it served, with their prefixes, best first."""

    def document(self) -> dict[str, object]:
        """Returns it as plain JSON values."""
        return {
            "id": show(Prefix.RECEIPT, self.receipt_id),
            "tick": self.tick,
            "coverage": self.coverage.value,
            "query_digest": self.query_digest,
            "hits": list(self.hits),
        }


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """One event and what it was about: ids and codes, no text."""

    tick: int
    at: datetime
    event: Happening
    status: Status | None
    """The lesson's, after the event; None for an event without a lesson."""
    by: str | None
    """The agent by name; None for the operator."""
    decision_id: UUID | None
    disputes: tuple[UUID, ...]
    """Those that it opened, joined or ended."""
    ending: str | None
    cause: str | None
    other: UUID | None
    """The lesson that says the same, or the opposite, where that was the cause."""
    successor: UUID | None
    receipt: str | None
    """The receipt of the recall that served the lesson which was confirmed."""
    since: datetime | None
    """Since when a lesson was over that the gardener stamped later."""
    space: str | None
    """The embedding space that the tribe serves from since."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One event of a tribe. `text` and `subject` are None when erased, or not for whoever asks, and without a lesson."""

    occurrence: Occurrence
    lesson_id: UUID | None
    kind: Kind | None
    subject: str | None
    text: str | None
    held: bool
    """By now a screen holds the lesson back, or a curator retired it as an injection: nobody should follow what it says."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Whole ticks, in order: all that happened after the tick `after`, up to `tick`. `clock` is where the tribe stands."""

    changes: tuple[Change, ...]
    after: int
    tick: int
    clock: int

    @property
    def more(self) -> bool:
        return self.tick < self.clock


@dataclass(frozen=True, kw_only=True)
class Link:
    """A lesson of a chain of successors. `text` is None when erased, or not for whoever asks."""

    lesson_id: UUID
    status: Status
    text: str | None
    learned: Instant
    activated: Instant | None
    deactivated: Instant | None
    superseded_by: UUID | None
    held: bool
    """As that of a change."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Lessons before or after another one, in the order in which they were believed; `more` when it was cut."""

    links: tuple[Link, ...]
    more: bool


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """A decision that an event came of, with the receipts that its writer cited."""

    decision_id: UUID
    tick: int
    outcome: Outcome
    reason: str
    receipts: tuple[Citation, ...]


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """What happened to one lesson, oldest first: the last events before a tick. `next_before` leads to earlier ones."""

    lesson: Lesson
    confidence: float
    events: tuple[Occurrence, ...]
    decisions: tuple[Ruling, ...]
    before: Chain
    after: Chain
    next_before: int | None
    receipt: Receipt
