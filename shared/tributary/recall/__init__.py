"""recall: plan -> search -> score -> receipt; and listings of lessons."""

from tributary.recall.listing import Reader
from tributary.recall.pipeline import Recaller
from tributary.recall.signing import Signer

__all__ = ["Reader", "Recaller", "Signer"]
