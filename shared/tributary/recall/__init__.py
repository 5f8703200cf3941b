"""recall: plan -> search -> score -> receipt; the listings; and what happened."""

from tributary.recall.activity import Chronicler
from tributary.recall.citing import citations, cited_receipt
from tributary.recall.diff import Comparer
from tributary.recall.history import Historian
from tributary.recall.listing import Reader, check_limit, cursor, listing_receipt, parse_cursor
from tributary.recall.pipeline import Recaller
from tributary.recall.probe import Prober
from tributary.recall.signing import Signer
from tributary.recall.stats import Statistician
from tributary.recall.stopwatch import Stopwatch
from tributary.recall.verifying import Verifier

__all__ = [
    "Chronicler",
    "Comparer",
    "Historian",
    "Prober",
    "Reader",
    "Recaller",
    "Signer",
    "Statistician",
    "Stopwatch",
    "Verifier",
    "check_limit",
    "citations",
    "cited_receipt",
    "cursor",
    "listing_receipt",
    "parse_cursor",
]
