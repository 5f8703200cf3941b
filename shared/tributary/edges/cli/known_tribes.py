"""The names of tribes that commands on this computer have seen, so that a shell can complete them without opening a database."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from tributary.contract.home import home

_FILE = "known-tribes.json"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Names that no shell takes apart or reads anything into; others are left to be typed."""


def remember(environment: Mapping[str, str], names: Iterable[str], *, all_there_are: bool) -> None:
    """Keeps the names for `complete`, in place of those before when these are all. What cannot be kept is not worth a failure."""
    folder = home(environment)
    if not folder.is_dir():
        return
    before = () if all_there_are else _kept(environment)
    found = sorted({*before, *(name for name in names if _PLAIN.fullmatch(name))})
    with suppress(OSError):
        (folder / _FILE).write_text(json.dumps(found) + "\n", encoding="utf-8")


def complete(incomplete: str) -> list[str]:
    """Returns the names that begin so."""
    return [name for name in _kept(os.environ) if name.startswith(incomplete)]


def _kept(environment: Mapping[str, str]) -> list[str]:
    try:
        found = json.loads((home(environment) / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in found if isinstance(name, str) and _PLAIN.fullmatch(name)] if isinstance(found, list) else []
