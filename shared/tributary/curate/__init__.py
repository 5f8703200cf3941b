"""curate: disputes, quarantine, erasure, policy, reviews, and the listings that curators work from."""

from tributary.curate.curator import Curator
from tributary.curate.desk import Desk
from tributary.curate.words import check_words

__all__ = ["Curator", "Desk", "check_words"]
