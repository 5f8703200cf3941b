"""The receipt of a search, kept as it came so that it can be handed back for verification."""

from __future__ import annotations

import json
from typing import cast

from pydantic import PrivateAttr

from tributary.client.errors import BadReply, NotComplete
from tributary.client.replies import read
from tributary.contract.models import ReceiptReply


class Receipt(ReceiptReply):
    """What a search looked at, what it left out and why, and what may be claimed from it."""

    _document: dict[str, object] = PrivateAttr(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Returns a copy of the receipt as the server signed it, fields unknown to this SDK included."""
        return cast("dict[str, object]", json.loads(json.dumps(self._document)))

    def assert_absence(self) -> None:
        """Raises NotComplete unless the search was complete and found nothing."""
        if self.returned or self.hits:
            raise NotComplete(f"the search found {max(self.returned, len(self.hits))} lesson(s)")
        if self.coverage != "complete":
            causes = f" ({', '.join(self.causes)})" if self.causes else ""
            raise NotComplete(f"coverage is {self.coverage}{causes}: it cannot be said that there is nothing")
        if not self.may_assert_absence:
            raise NotComplete("the server says that this search cannot show that there is nothing")


def read_receipt(body: bytes) -> Receipt:
    """Returns the receipt inside a reply's body; raises BadReply when there is none."""
    try:
        return receipt_in(json.loads(body)["receipt"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadReply("the server's reply has no receipt; is the address right?") from None


def receipt_in(document: dict[str, object]) -> Receipt:
    """Returns the receipt that a document is; raises BadReply, and TypeError or RecursionError for what no JSON can hold."""
    receipt = read(Receipt, json.dumps(document).encode())
    if receipt.may_assert_absence and (receipt.coverage != "complete" or receipt.returned):
        raise BadReply(f"the server's receipt claims absence with coverage {receipt.coverage} and {receipt.returned} hit(s)")
    receipt._document = document
    return receipt
