"""What is shipped, and what each of it holds that others made: distributions of Python, and files and programs beside them."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from layers.memory.lock import closures, hashes_in, locked, pinned
from layers.memory.recipe import DASHBOARD_LOCK, LOCAL_LOCK, LOCK, MCP_LOCK, ROOT
from tributary.store._embedded_cluster import FOLDERS, programs

OURS = "tributary-memory"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing of others. `purl` names it as databases of advisories do; `sha256` are of its file, or of its wheels."""

    name: str
    version: str
    purl: str
    sha256: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """One thing that is shipped, with what it holds of others: distributions of Python by their names, and what is beside."""

    name: str
    meaning: str
    distributions: Mapping[str, Part]
    beside: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.distributions.values(), *self.beside)


def shipped() -> tuple[Shipped, ...]:
    """Returns all that is shipped. What lies in an extra is read from what is installed, so it needs the extra `dev`."""
    return (
        Shipped(name="layer", meaning="the Lambda layer of every function", distributions=_of_lock(LOCK)),
        Shipped(
            name="layer-local", meaning="the Lambda layer that embeds on the function's CPU", distributions=_of_lock(LOCAL_LOCK)
        ),
        Shipped(
            name="layer-dashboard",
            meaning="the Lambda layer of the dashboard's function",
            distributions=_of_lock(DASHBOARD_LOCK),
            beside=(_htmx(),),
        ),
        Shipped(name="layer-mcp", meaning="the Lambda layer of the function mcp", distributions=_of_lock(MCP_LOCK)),
        Shipped(
            name="image-dashboard",
            meaning="the dashboard's container, without its base image",
            distributions=_of_extras(_extras_of_image()),
            beside=(_htmx(),),
        ),
        Shipped(
            name="laptop",
            meaning="what make install installs",
            distributions=_of_extras("local"),
            beside=(_htmx(), *_embedded_programs()),
        ),
    )


def _of_lock(file: Path) -> dict[str, Part]:
    hashes = hashes_in(file)
    return {name: _distribution(name, pin, hashes[name]) for name, pin in locked(file).items()}


def _of_extras(extras: str) -> dict[str, Part]:
    pins = pinned()
    return {name: _distribution(name, pins[name]) for name in sorted(closures([f"{OURS}[{extras}]"]) - {OURS})}


def _distribution(name: str, pin: str, hashes: tuple[str, ...] = ()) -> Part:
    return Part(name=name, version=pin, purl=f"pkg:pypi/{name}@{pin}", sha256=hashes)


def _extras_of_image() -> str:
    text = (ROOT / "functions/dashboard/Dockerfile").read_text(encoding="utf-8")
    return _only(r"^ARG EXTRAS=(\S+)$", text)


def _htmx() -> Part:
    """The one script of others among the assets; NOTICE names its version, and a test holds the file to its digest."""
    file = ROOT / "shared/tributary/edges/dashboard/assets/script/00-htmx.min.js"
    named = _only(r"npm package htmx\.org (\S+),", (ROOT / "NOTICE").read_text(encoding="utf-8"))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Part(name="htmx.org", version=named, purl=f"pkg:npm/htmx.org@{named}", sha256=(digest,))


def _embedded_programs() -> Iterator[Part]:
    """PostgreSQL and pgvector, which lie in a wheel: an audit of distributions alone would not know of them."""
    for major in FOLDERS:
        folder = programs(major)
        told = subprocess.run([folder / "postgres", "--version"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        control = folder.parent / "share/postgresql/extension/vector.control"
        server = _only(r"PostgreSQL\) (\S+)", told)
        extension = _only(r"^default_version = '(\S+)'", control.read_text(encoding="utf-8"))
        yield Part(name="postgresql", version=server, purl=f"pkg:generic/postgresql@{server}")
        yield Part(name="pgvector", version=extension, purl=f"pkg:github/pgvector/pgvector@v{extension}?for=postgresql-{major}")


def _only(pattern: str, text: str) -> str:
    (found,) = re.findall(pattern, text, re.MULTILINE)
    return str(found)
