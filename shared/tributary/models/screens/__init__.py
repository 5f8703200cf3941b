"""Screens: what keeps text out that would hijack a later reader."""

from tributary.models.screens.asked import AskedScreen
from tributary.models.screens.guardrails import GuardrailsScreen
from tributary.models.screens.jev import JevScreen
from tributary.models.screens.layered import LayeredScreen
from tributary.models.screens.local import LocalScreen

__all__ = ["AskedScreen", "GuardrailsScreen", "JevScreen", "LayeredScreen", "LocalScreen"]
