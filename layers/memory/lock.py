"""`python -m layers.memory.lock [NAME==VERSION ...]`: writes the lock files anew, from pyproject.toml and constraints.txt.

A lock names each distribution that a layer carries, at the version of constraints.txt, with the hashes of the wheels for every
target. What belongs in it is read from what is installed here, so it needs the development environment; the hashes come from
the package index that pip is set up with. With arguments, prints the lock of just these distributions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from layers.memory.recipe import (
    DASHBOARD,
    DASHBOARD_LOCK,
    EXTRAS,
    LOCAL,
    LOCAL_LOCK,
    LOCK,
    MCP,
    MCP_LOCK,
    ROOT,
    TARGETS,
    Target,
)

_HEAD = "# Made by 'make layer-lock' from pyproject.toml and constraints.txt.\n"


def main() -> int:
    if given := dict(one.split("==") for one in sys.argv[1:]):
        print(written(given, hashes_of(given)), end="")
        return 0
    pins = pinned()
    for file, names in (
        (LOCK, needed()),
        (LOCAL_LOCK, set(LOCAL)),
        (DASHBOARD_LOCK, needed_beside(DASHBOARD)),
        (MCP_LOCK, needed_beside(MCP)),
    ):
        chosen = {name: pins[name] for name in sorted(names)}
        file.write_text(_HEAD + written(chosen, hashes_of(chosen)), encoding="utf-8")
        print(f"{file.relative_to(ROOT)}: {len(chosen)} distributions")
    return 0


def pinned() -> dict[str, str]:
    """Returns the version of each distribution in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def needed() -> set[str]:
    """Returns the distributions that the layer carries beside our own: the requirements, with all that these require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    return closures(asked)


def needed_beside(asked: Iterable[str]) -> set[str]:
    """Returns the distributions that the layer of one function carries beside the layer that every function has."""
    return closures(asked) - needed()


def locked(file: Path) -> dict[str, str]:
    """Returns the version of each distribution in a lock file."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", file.read_text(encoding="utf-8"), re.MULTILINE))


def hashes_in(file: Path) -> dict[str, tuple[str, ...]]:
    """Returns the SHA-256 of the wheels of each distribution in a lock file."""
    blocks = re.findall(r"^([a-z0-9-]+)==\S+ \\\n((?: .*\n?)+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: tuple(re.findall(r"sha256:([0-9a-f]{64})", lines)) for name, lines in blocks}


def hashes_of(pins: Mapping[str, str]) -> dict[str, set[str]]:
    """Returns the SHA-256 of the wheels that pip takes for any target."""
    found: dict[str, set[str]] = {name: set() for name in pins}
    for target in TARGETS:
        exact = [f"{name}=={version}" for name, version in pins.items()]
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps"]
        command += ["--quiet", "--report=-", "--target=nowhere", *target.for_pip(), *exact]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        for item in report["install"]:
            name = canonicalize_name(item["metadata"]["name"])
            found[name].add(item["download_info"]["archive_info"]["hashes"]["sha256"])
    return found


def written(pins: Mapping[str, str], hashes: Mapping[str, Iterable[str]]) -> str:
    """Returns the text of a lock file, without its head."""
    lines = []
    for name, version in pins.items():
        lines.append(f"{name}=={version} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{one}" for one in sorted(hashes[name])))
    return "\n".join(lines) + "\n"


def closures(asked: Iterable[str]) -> set[str]:
    """Returns the distributions that these requirements come to, themselves too, for whichever target."""
    return {name for target in TARGETS for name in _closure(map(Requirement, asked), target)}


def _closure(asked: Iterable[Requirement], target: Target) -> set[str]:
    waiting = [(canonicalize_name(one.name), frozenset(one.extras)) for one in asked]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for line in distribution(name).requires or ():
            requirement = Requirement(line)
            if _applies(requirement, extras, target):
                waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}


def _applies(requirement: Requirement, extras: Iterable[str], target: Target) -> bool:
    there = {
        "python_version": target.python,
        "python_full_version": f"{target.python}.0",
        "platform_machine": target.wheels,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**there, "extra": extra}) for extra in ("", *extras))


if __name__ == "__main__":
    sys.exit(main())
