"""Screens: what keeps text out that would hijack a later reader."""

from tributary.models.screens.local import LocalScreen

__all__ = ["LocalScreen"]
