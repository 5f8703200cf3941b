"""A receipt that comes back: the agent says by which recall it was served."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from tributary.core.agent import Principal
from tributary.core.errors import InvalidRequest
from tributary.core.ids import Prefix, parse, show
from tributary.recall.signing import Signer


def cited_receipt(signer: Signer, principal: Principal, lesson_id: UUID, receipt: Mapping[str, object]) -> UUID:
    """Returns the id of a receipt that really served `lesson_id` to this tribe; raises InvalidRequest for any other."""
    if not signer.signed(receipt):
        raise InvalidRequest("receipt", "is not as it was signed; send the receipt of a recall unchanged")
    searched = receipt.get("searched")
    if not isinstance(searched, list) or not any(one.get("tribe") == str(principal.tribe_id) for one in searched):
        raise InvalidRequest("receipt", "is of another tribe")
    hits = receipt.get("hits")
    wanted = show(Prefix.LESSON, lesson_id)
    if not isinstance(hits, list) or not any(one.get("id") == wanted for one in hits):
        raise InvalidRequest("receipt", "did not serve this lesson")
    return parse(Prefix.RECEIPT, str(receipt["id"]), field="receipt.id")
