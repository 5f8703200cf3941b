"""Distillers: what finds the lessons in a transcript."""

from tributary.models.distillers.asked import AskedDistiller

__all__ = ["AskedDistiller"]
