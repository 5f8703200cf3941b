"""Whether what an optional part of the product needs is there, told without loading it."""

from __future__ import annotations

import importlib.util

from tributary.core.errors import BadSetting


def need(module: str, *, library: str, extra: str, by: str) -> None:
    """Raises BadSetting, naming `by` and the extra to install, when there is no such top-level module."""
    try:
        found = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise BadSetting(f"{by} needs {library}, which is not installed: pip install 'tributary-memory[{extra}]'")
