"""Transcripts that lessons are distilled from, and what is proposed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tributary.contract import limits
from tributary.contract.models import Deadline, EvidenceReply, Kind, Reply, Request, SourceReply
from tributary.contract.values import Filled, Moment, Storable

TurnRole = Literal["user", "assistant", "tool", "system", "text"]
DropName = Literal["malformed", "no_evidence", "no_such_turn", "not_quoted", "secret", "breaks_a_rule", "repeated", "too_many"]
TranscriptRef = Annotated[Filled, Field(max_length=limits.TRANSCRIPT_REF_CHARACTERS)]


class TurnRequest(Request):
    """One turn of a transcript. `tool` is what a tool gave back, `text` a piece of a text without speakers."""

    role: TurnRole
    text: Storable
    at: Moment | None = None
    ref: Annotated[
        TranscriptRef | None, Field(description="Where it can be looked up; the transcript's with the turn's number if null.")
    ] = None


class DistillRequest(Request):
    """A transcript to find lessons in: turns, oldest first, or a text, at most 200 KB of UTF-8 in all."""

    transcript: (
        Annotated[list[TurnRequest], Field(min_length=1, max_length=limits.TRANSCRIPT_TURNS)]
        | Annotated[
            Filled,
            Field(description="Turns begin at lines such as `user: ...`, `assistant: ...` or `tool: ...`, else paragraphs do."),
        ]
    )
    ref: Annotated[TranscriptRef | None, Field(description="What the transcript is of, such as `run:88`.")] = None
    most: Annotated[int, Field(ge=1, le=limits.DISTILLED_LESSONS)] = limits.DISTILLED_LESSONS
    deadline_s: Annotated[Deadline | None, Field(description="Seconds after which what was not answered yet stays unread.")] = (
        None
    )


class ProposedLessonReply(Reply):
    """A lesson to learn, in the form that learn takes."""

    text: str
    situation: str
    source: SourceReply
    kind: Kind
    subject: str | None
    tags: dict[str, str]
    evidence: list[EvidenceReply]
    rationale: str | None
    confidence: float


class DroppedReply(Reply):
    """Lessons that the model named and that are not proposed."""

    why: DropName
    count: int


class StretchReply(Reply):
    """Turns of a transcript, both ends among them."""

    first: int
    last: int


class DistillReply(Reply):
    """What may be worth learning, surest first. Nothing was learned."""

    lessons: list[ProposedLessonReply]
    dropped: list[DroppedReply]
    unread: list[StretchReply] = Field(description="On these turns the model gave no usable answer.")
    model: str
