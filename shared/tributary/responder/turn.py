"""One turn of an incident: what is asked, and what comes back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

from tributary.core import limits
from tributary.core.decision import Learned
from tributary.core.errors import InvalidRequest
from tributary.core.receipt import Receipt
from tributary.core.responding import INCIDENT_PATTERN, Stop

Document = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Said:
    """An earlier word of the conversation."""

    role: Literal["user", "agent"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a person says about an incident. `conversation` is what was said before, oldest first."""

    message: str
    conversation: tuple[Said, ...] = ()
    incident: str | None = None
    """Names the incident: what was done once in it is not done again. None: the conversation's first words name it."""
    deadline_s: float | None = None

    def check(self) -> None:
        """Raises InvalidRequest naming the first field that breaks a rule."""
        limits.check_text("message", self.message, max_bytes=limits.RESPONDER_MESSAGE_BYTES)
        if len(self.conversation) > limits.RESPONDER_CONVERSATION:
            raise InvalidRequest(
                "conversation", f"has {len(self.conversation)} turns; at most {limits.RESPONDER_CONVERSATION} are read"
            )
        for number, said in enumerate(self.conversation):
            limits.check_storable(f"conversation.{number}.text", said.text)
        if sum(len(said.text.encode()) for said in self.conversation) > limits.RESPONDER_CONVERSATION_BYTES:
            raise InvalidRequest("conversation", f"has more than {limits.RESPONDER_CONVERSATION_BYTES} bytes of UTF-8")
        if self.incident is not None and not re.fullmatch(INCIDENT_PATTERN, self.incident):
            raise InvalidRequest("incident", "must be 1 to 64 letters, digits or . _ : @ / # -, beginning with a letter or digit")

    @property
    def named_incident(self) -> str:
        """The incident's name; of one that nobody named, a digest of the words with which a person began the conversation."""
        if self.incident is not None:
            return self.incident
        words = next((said.text for said in self.conversation if said.role == "user"), self.message)
        return f"said-{hashlib.sha256(' '.join(words.split()).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, kw_only=True)
class Searched:
    """One recall of a turn: what was asked, and the receipt by which it can be checked."""

    query: str
    receipt: Receipt


class Outcome(StrEnum):
    """What came of an attempt to change something. `in_doubt`: nobody can tell whether it happened."""

    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class Acted:
    """One attempt to change something."""

    key: str
    verb: str
    target: str
    outcome: Outcome
    action: str | None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class TurnReply:
    """What became of a turn. `stopped` says why it ended without the model's own answer; `withheld` that one was held back;
    `unsearched`, by codes of errors, why recalls gave no receipt."""

    turn_id: UUID
    text: str
    withheld: bool
    stopped: Stop | None
    incident: str
    searched: tuple[Searched, ...]
    unsearched: tuple[str, ...]
    learned: tuple[Learned, ...]
    actions: tuple[Acted, ...]
    rounds: int
    tool_calls: int
    model: str
