"""Judges: what tells same, opposite and unrelated lessons apart."""

from tributary.models.judges.asked import AskedJudge
from tributary.models.judges.jev import JevJudge
from tributary.models.judges.local import LocalJudge

__all__ = ["AskedJudge", "JevJudge", "LocalJudge"]
