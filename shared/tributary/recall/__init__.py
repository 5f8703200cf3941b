"""recall: plan -> search -> score -> receipt; and the listings."""

from tributary.recall.citing import cited_receipt
from tributary.recall.listing import Reader, check_limit, cursor, listing_receipt, parse_cursor
from tributary.recall.pipeline import Recaller
from tributary.recall.signing import Signer
from tributary.recall.stopwatch import Stopwatch
from tributary.recall.verifying import Verifier

__all__ = [
    "Reader",
    "Recaller",
    "Signer",
    "Stopwatch",
    "Verifier",
    "check_limit",
    "cited_receipt",
    "cursor",
    "listing_receipt",
    "parse_cursor",
]
