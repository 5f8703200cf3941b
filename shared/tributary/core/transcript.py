"""What an agent did and read, turn by turn, and the lessons that are proposed from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tributary.core import limits
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Draft, How

_SPOKEN = re.compile(r"^(user|human|assistant|agent|tool|system)[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_ALIASES = {"human": "user", "agent": "assistant"}


class TurnRole(StrEnum):
    """Whose words a turn is. `tool` is what a tool gave back, `text` a piece of a text without speakers."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    TEXT = "text"

    @property
    def how(self) -> How:
        """How an agent knows what stands there: it saw what tools gave back, concluded what it said, was told the rest."""
        if self is TurnRole.TOOL:
            return How.OBSERVED
        return How.DERIVED if self is TurnRole.ASSISTANT else How.TOLD


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn; `ref` is where it can be looked up, when that is not the transcript's with the turn's number."""

    role: TurnRole
    text: str
    at: datetime | None = None
    ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What was said in one run, oldest first. Turns are numbered from 1."""

    turns: tuple[Turn, ...]
    ref: str | None = None

    def check(self) -> None:
        """Raises InvalidRequest naming the first part that breaks a rule."""
        if not 1 <= len(self.turns) <= limits.TRANSCRIPT_TURNS:
            raise InvalidRequest("transcript", f"must have 1 to {limits.TRANSCRIPT_TURNS} turns")
        for index, turn in enumerate(self.turns):
            limits.check_storable(f"transcript.{index}.text", turn.text)
            limits.check_aware(f"transcript.{index}.at", turn.at)
            if turn.ref is not None:
                limits.check_short(f"transcript.{index}.ref", turn.ref, limits.TRANSCRIPT_REF_CHARACTERS)
        size = sum(len(turn.text.encode()) for turn in self.turns)
        if size > limits.TRANSCRIPT_BYTES:
            raise InvalidRequest("transcript", f"is {size} bytes of UTF-8; at most {limits.TRANSCRIPT_BYTES} are read")
        if not any(turn.text.strip() for turn in self.turns):
            raise InvalidRequest("transcript", "must not be empty or white space")
        if self.ref is not None:
            limits.check_short("ref", self.ref, limits.TRANSCRIPT_REF_CHARACTERS)

    def turn(self, number: int) -> Turn | None:
        """Returns the turn of this number, None when there is none."""
        return self.turns[number - 1] if 1 <= number <= len(self.turns) else None

    def place(self, number: int) -> str:
        """Returns where a turn can be looked up: its own reference, or `run:88#turn-4`."""
        turn = self.turns[number - 1]
        return turn.ref or f"{self.ref or 'transcript'}#turn-{number}"


def turns_of(text: str) -> tuple[Turn, ...]:
    """Returns a text as turns: at lines that begin with a speaker (`user:`, `tool:`), else one turn a paragraph.

    Of a text without speakers that has more paragraphs than a transcript may have turns, the last turn holds what is left.
    """
    marks = list(_SPOKEN.finditer(text))
    if not marks:
        most = limits.TRANSCRIPT_TURNS
        parts = (part.strip() for part in _PARAGRAPHS.split(text, maxsplit=most - 1))
        return tuple(Turn(role=TurnRole.TEXT, text=part) for part in parts if part)
    turns = []
    before = text[: marks[0].start()].strip()
    if before:
        turns.append(Turn(role=TurnRole.TEXT, text=before))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        speaker = mark[1].lower()
        turns.append(Turn(role=TurnRole(_ALIASES.get(speaker, speaker)), text=text[mark.end() : end].strip()))
    return tuple(turns)


class Drop(StrEnum):
    """Why a lesson that a model named is not proposed."""

    MALFORMED = "malformed"
    """It is not of the form that was asked for."""
    NO_EVIDENCE = "no_evidence"
    """It quotes nothing."""
    NO_SUCH_TURN = "no_such_turn"
    """It rests on a turn that the transcript does not have."""
    NOT_QUOTED = "not_quoted"
    """What it quotes does not stand in the turn that it names."""
    SECRET = "secret"  # noqa: S105  (a reason)
    """It holds what looks like a secret."""
    BREAKS_A_RULE = "breaks_a_rule"
    """A field is too long, or otherwise nothing that could be learned."""
    REPEATED = "repeated"
    """Another one says the same; its evidence was added to that one."""
    TOO_MANY = "too_many"
    """More were named than were asked for, and the others are surer."""


@dataclass(frozen=True, kw_only=True)
class Distilled:
    """What a distiller proposes, surest first, and what it does not. Nothing of it is learned yet.

    `unread` are stretches of the transcript (first and last turn) on which the model gave no usable answer.
    """

    lessons: tuple[Draft, ...]
    dropped: Mapping[Drop, int]
    unread: tuple[tuple[int, int], ...]
    model: str
