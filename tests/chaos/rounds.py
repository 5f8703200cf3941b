"""How often the suite of chaos does what it does: as often as is said here by default, or as TRIBUTARY_CHAOS_ROUNDS says."""

from __future__ import annotations

import os

_ASKED = os.environ.get("TRIBUTARY_CHAOS_ROUNDS")


def rounds(default: int) -> int:
    """Returns how often something is done; read when its module is imported, before tests lose their environment."""
    return default if _ASKED is None else int(_ASKED)
