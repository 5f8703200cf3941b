"""The request that has lessons found in a transcript, and how its reply is read. Pure, as `calls` is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tributary.client.calls import Call
from tributary.client.errors import broken
from tributary.client.replies import read
from tributary.client.values import body_of, checked
from tributary.contract.distilling import DistillReply, DistillRequest, TurnRequest

GivenTurn = TurnRequest | Mapping[str, object]


def distill(transcript: str | Iterable[GivenTurn], *, ref: str | None, most: int, deadline_s: float | None) -> Call[DistillReply]:
    """Asks once: a try costs calls of a model, so whether it is worth another is the caller's to say."""
    given = transcript if isinstance(transcript, str) else [_turn(one, position) for position, one in enumerate(transcript)]
    request = checked(lambda: DistillRequest(transcript=given, ref=ref, most=most, deadline_s=deadline_s))
    return Call(
        operation="distill",
        method="POST",
        path="/v1/distill",
        body=body_of(request),
        read=lambda body: read(DistillReply, body),
        again=False,
    )


def _turn(given: GivenTurn, position: int) -> TurnRequest:
    if isinstance(given, TurnRequest):
        return given
    if not isinstance(given, Mapping):
        raise broken(f"transcript.{position}", "must be a turn, or a mapping with role and text")
    return checked(lambda: TurnRequest.model_validate(dict(given)), within=f"transcript.{position}")
