"""Screens: what keeps text out that would hijack a later reader."""

from tributary.models.screens.guardrails import GuardrailsScreen
from tributary.models.screens.local import LocalScreen

__all__ = ["GuardrailsScreen", "LocalScreen"]
