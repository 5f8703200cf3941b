"""Replies about the difference between two moments of a tribe: what it came to believe, and what it ceased to."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tributary.contract.history import EventReply
from tributary.contract.models import InstantReply, LessonReply, ReceiptReply, Reply

ChangeOfBelief = Literal["began", "ended"]
HowChanged = Literal["learned", "revived", "superseded", "retired", "evicted", "erased", "expired", "withered"]


class BeliefChangeReply(Reply):
    """A lesson that was believed at one of the two moments and not at the other."""

    change: ChangeOfBelief
    how: HowChanged = Field(
        description="Of what began: `learned`, or `revived`, by the end of a dispute, after it had withered. "
        "Of what ended: `expired` and `withered` are the work of time, whether or not the gardener has written it down."
    )
    at: datetime = Field(description="When it began or ended.")
    event: EventReply | None = Field(description="What did it: the tick, by whom and why. Null where time alone did it.")
    lesson: LessonReply = Field(description="As it stood at `until`.")
    replaced: list[str] = Field(description="Lessons that it superseded when it began.")


class DiffReply(Reply):
    """What was believed at one of two moments and not at the other, newest change first."""

    since: InstantReply = Field(description="The moment that `from` was resolved to.")
    until: InstantReply = Field(description="The moment that `to` was resolved to. Further pages are about the same.")
    began: int = Field(description="How many were believed at `until` and not at `since`, on all pages together.")
    ended: int = Field(description="How many were believed at `since` and not at `until`, on all pages together.")
    changes: list[BeliefChangeReply]
    next: str | None = Field(description="Value of `before` for the next page; null at the end.")
    receipt: ReceiptReply
