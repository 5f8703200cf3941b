"""The request that has the incident agent take a turn, and how its reply is read. Pure, as `calls` is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tributary.client.calls import Call
from tributary.client.replies import read
from tributary.client.values import body_of, broken, checked
from tributary.contract.responding import SaidRequest, RespondReply, RespondRequest

GivenWord = SaidRequest | Mapping[str, object]


def respond(
    message: str, *, conversation: Iterable[GivenWord], incident: str | None, deadline_s: float | None
) -> Call[RespondReply]:
    """Asks once: a turn may change something and costs calls of a model, so whether to ask again is the caller's to say."""
    said = [_word(one, position) for position, one in enumerate(conversation)]
    request = checked(lambda: RespondRequest(message=message, conversation=said, incident=incident, deadline_s=deadline_s))
    return Call(
        operation="respond",
        method="POST",
        path="/v1/responder/turn",
        body=body_of(request),
        read=lambda body: read(RespondReply, body),
        again=False,
    )


def _word(given: GivenWord, position: int) -> SaidRequest:
    if isinstance(given, SaidRequest):
        return given
    if not isinstance(given, Mapping):
        raise broken(f"conversation.{position}", "must be a mapping with role and text")
    return checked(lambda: SaidRequest.model_validate(dict(given)), within=f"conversation.{position}")
