"""Judges: what tells same, opposite and unrelated lessons apart."""

from tributary.models.judges.local import LocalJudge

__all__ = ["LocalJudge"]
