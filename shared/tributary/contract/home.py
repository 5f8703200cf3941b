"""Where Tributary keeps its things on this computer, and how a local server is found."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONNECTION_FILE = "connection.json"
SERVING_FILE = "serving.lock"
"""Held by the server that the connection file names, and says where it serves, or served last."""


def home(environment: Mapping[str, str]) -> Path:
    """Returns TRIBUTARY_HOME, or `tributary` under the user's data folder."""
    given = environment.get("TRIBUTARY_HOME")
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "tributary"
    data = environment.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "tributary"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Where a server listens and a token that it knows."""

    url: str
    token: str


def read_connection(folder: Path) -> Connection | None:
    """Returns what the first `tributary serve` left in `folder` for clients on this computer, or None."""
    try:
        stored = json.loads((folder / CONNECTION_FILE).read_text(encoding="utf-8"))
        return Connection(url=str(stored["url"]), token=str(stored["token"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def serving_at(folder: Path) -> str | None:
    """Returns where the server of `folder` serves, or served last; it may keep no token that a client could use. Else None."""
    try:
        return (folder / SERVING_FILE).read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def write_connection(folder: Path, connection: Connection) -> Path:
    """Writes `connection` where only its owner can read it (mode 0600) and returns the path. Safe beside others that write."""
    path = folder / CONNECTION_FILE
    text = json.dumps({"url": connection.url, "token": connection.token}, indent=2) + "\n"
    descriptor, fresh = tempfile.mkstemp(prefix=f"{CONNECTION_FILE}.", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(fresh).replace(path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
    return path
