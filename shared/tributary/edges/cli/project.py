"""What the project in a folder is called: by its repository, its packages, and the folder itself."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_GIT_S = 1.0
_MOST_BYTES = 1_000_000
_MOST_NAMES = 8
_NAME_CHARACTERS = 100
_REPOSITORY = re.compile(r"[:/]([^:/\s]+/[^/\s]+?)(?:\.git)?/?$")
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)


def names_of(folder: Path) -> list[str]:
    """Returns the names of the project that `folder` is part of, the one that says most first; at least the folder's own."""
    root = _root(folder)
    found = [*_repository(folder), *(name for file, read in _MANIFESTS.items() for name in _read(root / file, read)), root.name]
    unique = dict.fromkeys(name.strip()[:_NAME_CHARACTERS] for name in found if name.strip())
    return list(unique)[:_MOST_NAMES]


def _root(folder: Path) -> Path:
    for one in (folder, *folder.parents):
        if (one / ".git").exists():
            return one
    return folder


def _repository(folder: Path) -> Iterator[str]:
    """Yields owner and name of the remote repository, without the host: `acme/payments`."""
    command = ["git", "-C", str(folder), "config", "--get", "remote.origin.url"]
    try:
        asked = subprocess.run(  # noqa: S603  (fixed words and a folder)
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_GIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    if match := _REPOSITORY.search(asked.stdout.strip()):
        yield match[1]


def _read(file: Path, read: Callable[[str], Iterator[object]]) -> Iterator[str]:
    try:
        if file.stat().st_size <= _MOST_BYTES:
            yield from (name for name in read(file.read_text(encoding="utf-8")) if isinstance(name, str))
    except (OSError, ValueError, RecursionError):  # what is not there, or none of its kind, names nothing
        return


def _python(text: str) -> Iterator[object]:
    document = tomllib.loads(text)
    yield _within(document, "project").get("name")
    yield _within(document, "tool", "poetry").get("name")


def _javascript(text: str) -> Iterator[object]:
    document = json.loads(text)
    yield document.get("name") if isinstance(document, dict) else None


def _rust(text: str) -> Iterator[object]:
    yield _within(tomllib.loads(text), "package").get("name")


def _go(text: str) -> Iterator[object]:
    match = _GO_MODULE.search(text)
    yield match[1] if match else None


def _within(document: Mapping[str, object], *path: str) -> Mapping[str, object]:
    here: object = document
    for name in path:
        here = here.get(name) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else {}


_MANIFESTS: Mapping[str, Callable[[str], Iterator[object]]] = {
    "pyproject.toml": _python,
    "package.json": _javascript,
    "Cargo.toml": _rust,
    "go.mod": _go,
}
