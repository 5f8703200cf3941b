"""recall: plan -> search -> score -> receipt; and the listings."""

from tributary.recall.citing import cited_receipt
from tributary.recall.listing import Reader, check_limit, cursor, listing_receipt, parse_cursor
from tributary.recall.pipeline import Recaller
from tributary.recall.probe import Prober
from tributary.recall.signing import Signer
from tributary.recall.stats import Statistician
from tributary.recall.stopwatch import Stopwatch

__all__ = [
    "Prober",
    "Reader",
    "Recaller",
    "Signer",
    "Statistician",
    "Stopwatch",
    "check_limit",
    "cited_receipt",
    "cursor",
    "listing_receipt",
    "parse_cursor",
]
