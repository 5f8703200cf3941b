"""The request that has the incident agent take a turn, and how its reply is read. Pure, as `calls` is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from tributary.client.calls import Call
from tributary.client.errors import broken
from tributary.client.receipts import Receipt, receipt_in
from tributary.client.replies import read
from tributary.client.values import body_of, checked
from tributary.contract.responding import RespondReply, RespondRequest, SaidRequest, SearchReply

GivenWord = SaidRequest | Mapping[str, object]


def respond(
    message: str, *, conversation: Iterable[GivenWord], incident: str | None, deadline_s: float | None
) -> Call[Responded]:
    """Asks once: a turn may change something and costs calls of a model, so whether to ask again is the caller's to say."""
    said = [_word(one, position) for position, one in enumerate(conversation)]
    request = checked(lambda: RespondRequest(message=message, conversation=said, incident=incident, deadline_s=deadline_s))
    return Call(
        operation="respond",
        method="POST",
        path="/v1/responder/turn",
        body=body_of(request),
        read=_read,
        again=False,
    )


class Search(SearchReply):
    """One recall of a turn, with a receipt that can be handed back for verification."""

    receipt: Receipt


class Responded(RespondReply):
    """What the incident agent says, and what that rests on."""

    receipts: list[Search]  # type: ignore[assignment]  # its own searches are the contract's, and more


def _read(body: bytes) -> Responded:
    reply = read(Responded, body)
    documents = [one["receipt"] for one in json.loads(body)["receipts"]]
    kept = [
        one.model_copy(update={"receipt": receipt_in(document)}) for one, document in zip(reply.receipts, documents, strict=True)
    ]
    return reply.model_copy(update={"receipts": kept})


def _word(given: GivenWord, position: int) -> SaidRequest:
    if isinstance(given, SaidRequest):
        return given
    if not isinstance(given, Mapping):
        raise broken(f"conversation.{position}", "must be a mapping with role and text")
    return checked(lambda: SaidRequest.model_validate(dict(given)), within=f"conversation.{position}")
