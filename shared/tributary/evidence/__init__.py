"""Evidence files: announced, kept, handed out to their tribe, and removed when nothing refers to them."""

from tributary.evidence.keeper import GRACE, Files
from tributary.evidence.sweeping import sweep

__all__ = ["GRACE", "Files", "sweep"]
