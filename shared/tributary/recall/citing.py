"""A receipt that comes back: the agent says by which recall it was served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from tributary.core.agent import Principal
from tributary.core.errors import InvalidRequest
from tributary.core.history import Citation
from tributary.core.ids import Prefix, parse, show
from tributary.core.receipt import Coverage
from tributary.recall.signing import Signer

Document = Mapping[str, Any]


def cited_receipt(signer: Signer, principal: Principal, lesson_id: UUID, receipt: Mapping[str, object]) -> UUID:
    """Returns the id of a receipt that really served `lesson_id` to this tribe; raises InvalidRequest for any other."""
    genuine = _genuine(signer, receipt, field="receipt")
    _searched(genuine, principal, field="receipt")
    wanted = show(Prefix.LESSON, lesson_id)
    if not any(one["id"] == wanted for one in genuine["hits"]):
        raise InvalidRequest("receipt", "did not serve this lesson")
    return parse(Prefix.RECEIPT, str(genuine["id"]), field="receipt.id")


def citations(signer: Signer, principal: Principal, receipts: Sequence[Mapping[str, object]]) -> tuple[Citation, ...]:
    """Returns what is kept of receipts that a writer cites, each once; raises InvalidRequest naming the first that is none."""
    found = [_citation(signer, principal, one, field=f"receipts.{index}") for index, one in enumerate(receipts)]
    return tuple({one.receipt_id: one for one in found}.values())


def _citation(signer: Signer, principal: Principal, receipt: Mapping[str, object], *, field: str) -> Citation:
    genuine = _genuine(signer, receipt, field=field)
    return Citation(
        receipt_id=parse(Prefix.RECEIPT, genuine["id"], field=f"{field}.id"),
        tick=_searched(genuine, principal, field=field)["tick"],
        coverage=Coverage(genuine["coverage"]),
        query_digest=genuine["query_digest"],
        hits=tuple(one["id"] for one in genuine["hits"]),
    )


def _genuine(signer: Signer, receipt: Mapping[str, object], *, field: str) -> Document:
    if not signer.signed(receipt):
        raise InvalidRequest(field, "is not as it was signed; send the receipt of a recall unchanged")
    return cast(Document, receipt)  # whatever was signed is a receipt of ours


def _searched(genuine: Document, principal: Principal, *, field: str) -> Document:
    """Returns at which tick the receipt's search saw this tribe."""
    for one in genuine["searched"]:
        if one["tribe"] == str(principal.tribe_id):
            return cast(Document, one)
    raise InvalidRequest(field, "is of another tribe")
