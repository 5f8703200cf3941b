"""A turn of the incident agent: what a person says, and what comes back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tributary.contract import limits
from tributary.contract.models import LearnReply, ReceiptReply, Reply, Request
from tributary.contract.values import Filled, Storable

SaidRole = Literal["user", "agent"]
StopName = Literal["rounds", "calls", "time", "spending", "model", "absence"]
ActedOutcome = Literal["done", "failed", "in_doubt", "busy"]
_INCIDENT = r"^[A-Za-z0-9][A-Za-z0-9._:@/#-]{0,63}$"
Incident = Annotated[Storable, Field(pattern=_INCIDENT, json_schema_extra={"pattern": _INCIDENT})]


class SaidRequest(Request):
    """An earlier word of the conversation."""

    role: SaidRole
    text: Storable


class RespondRequest(Request):
    """What a person says about an incident. The message has at most 8 KB of UTF-8, the conversation 32 KB."""

    message: Filled
    conversation: Annotated[
        list[SaidRequest],
        Field(max_length=limits.RESPONDER_CONVERSATION, description="What was said before, oldest first."),
    ] = Field(default_factory=list)
    incident: Annotated[
        Incident | None,
        Field(
            description="Names the incident, such as `INC-12`: a change that was made once in it is not made again. The first"
            " words of the conversation name one that has no name."
        ),
    ] = None
    deadline_s: Annotated[
        float | None,
        Field(gt=0, le=limits.RESPONDER_TURN_S, allow_inf_nan=False, description="Seconds that the turn may take, at most 60."),
    ] = None


class SearchReply(Reply):
    """One recall of the turn; `POST /v1/receipts/verify` checks both together."""

    query: str
    receipt: ReceiptReply


class ActedReply(Reply):
    """One attempt to change something."""

    action: str | None
    key: str
    verb: str
    target: str
    outcome: ActedOutcome = Field(description="`in_doubt`: nobody can tell whether it happened; a curator has to look.")
    detail: str | None


class RespondReply(Reply):
    """What the incident agent says, and what that rests on."""

    text: str
    withheld: bool = Field(description="An answer was held back: it claimed that nothing is known, and no search shows that.")
    stopped: StopName | None = Field(description="Why the turn ended without the agent's own answer; null when it did not.")
    incident: str
    receipts: list[SearchReply]
    unsearched: list[str] = Field(description="Why recalls of the turn gave no receipt at all: a code of errors for each.")
    learned: list[LearnReply]
    actions: list[ActedReply]
    rounds: int
    tool_calls: int
    model: str
