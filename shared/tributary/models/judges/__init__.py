"""Judges: what tells same, opposite and unrelated lessons apart."""

from tributary.models.judges.asked import AskedJudge
from tributary.models.judges.jev import JevJudge
from tributary.models.judges.local import LocalJudge
from tributary.models.judges.tiered import TieredJudge

__all__ = ["AskedJudge", "JevJudge", "LocalJudge", "TieredJudge"]
