"""Which build of the library runs: what the layer's build.json says, or that it is none."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import tributary

_FROM_SOURCE = "source"


@cache
def build() -> str:
    """Returns the build of the layer that the library is in: it changes with any file of the library and with the lock."""
    file = Path(tributary.__file__).with_name("build.json")
    return str(json.loads(file.read_text(encoding="utf-8"))["build"]) if file.exists() else _FROM_SOURCE
