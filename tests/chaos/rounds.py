"""How often the suite of chaos does what it does: as often as is said here by default, or as TRIBUTARY_CHAOS_ROUNDS says."""

from __future__ import annotations

import os

_ASKED = os.environ.get("TRIBUTARY_CHAOS_ROUNDS")


def rounds(default: int, *, costly: bool = False) -> int:
    """Returns how often something is done, of what is `costly` a tenth of what was asked for; for use when modules load."""
    return default if _ASKED is None else max(default, int(_ASKED) // 10) if costly else int(_ASKED)
