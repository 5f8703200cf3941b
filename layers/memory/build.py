"""Builds the layer into a folder: the same inputs give the same bytes, wherever and whenever it is built."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from layers.memory import pythons
from layers.memory.recipe import CERTIFICATES, DASHBOARD_LOCK, LOCAL_LOCK, LOCK, MCP_LOCK, ROOT, UNCOMPILED, Target, belongs

LIBRARY = ROOT / "shared" / "tributary"
TOKENIZER = "models/embedders/all_minilm_l6_v2/tokenizer.json"
PAGES = "edges/dashboard"
TOOLS = "edges/mcp"
"""Parts of the library that one function alone has, in its own layer."""
_PARTS_OF_LIBRARY = (".py", ".sql", ".json", ".typed", ".html", ".css", ".js", ".svg")
_MOUNTED_AT = "/opt/python"
_EPOCH = 315_532_800
"""1980-01-01, the first day that a zip archive can name."""


def build(target: Target, out: Path) -> None:
    """Makes the layer anew: python/ with dependencies and library, certs/rds.pem. Raises CalledProcessError when pip fails."""
    with _making(out) as folder:
        python = folder / "python"
        _install(LOCK, target, python)
        beside = {file for part in (TOKENIZER, PAGES, TOOLS) for file in _part(part)}
        _lay(LIBRARY, (file for file in _library_files() if file not in beside), python / "tributary")
        compiled = _compile(python, target)
        document = {**identity(target), "compiled": compiled}
        (python / "tributary" / "build.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        (folder / "certs").mkdir()
        shutil.copyfile(CERTIFICATES, folder / "certs" / "rds.pem")


def build_local(target: Target, out: Path) -> None:
    """Makes the second layer anew: the runtime and the model with which a function embeds by itself."""
    _build_beside(LOCAL_LOCK, target, out, _part(TOKENIZER))


def build_dashboard(target: Target, out: Path) -> None:
    """Makes the dashboard's layer anew: its pages, and what they are made with."""
    _build_beside(DASHBOARD_LOCK, target, out, _part(PAGES))


def build_mcp(target: Target, out: Path) -> None:
    """Makes the layer of the function `mcp` anew: its tools, and the protocol's SDK."""
    _build_beside(MCP_LOCK, target, out, _part(TOOLS))


def _build_beside(lock: Path, target: Target, out: Path, files: Iterable[Path]) -> None:
    with _making(out) as folder:
        python = folder / "python"
        _install(lock, target, python)
        _lay(LIBRARY, files, python / "tributary")
        _compile(python, target)


def identity(target: Target) -> dict[str, str]:
    """Returns what build.json says: `build` changes with any file of the library and with the lock, `lock` with that alone."""
    version = re.search(r'__version__ = "(.+)"', (LIBRARY / "__init__.py").read_text(encoding="utf-8"))
    assert version is not None
    of_lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    of_all = hashlib.sha256(of_lock.encode())
    for file in _library_files():
        of_all.update(f"\0{file.relative_to(LIBRARY).as_posix()}\0{hashlib.sha256(file.read_bytes()).hexdigest()}".encode())
    return {
        "version": version[1],
        "build": of_all.hexdigest()[:16],
        "python": target.python,
        "platform": target.machine,
        "lock": of_lock[:16],
    }


def digest(folder: Path) -> str:
    """Returns one SHA-256 over the path, mode, time and bytes of all that is in a folder."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        whole.update(f"{path.relative_to(folder).as_posix()}\0{status.st_mode:o}\0{int(status.st_mtime)}\0{content}\n".encode())
    return whole.hexdigest()


def size(folder: Path) -> int:
    """Returns the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def _making(out: Path) -> Iterator[Path]:
    with replacing(out) as folder:
        yield folder
        _settle(folder)


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Gives an empty folder beside `out` that takes its place at the end, when all went well; several processes may at once."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.parent))  # its own, beside another build's
    new.chmod(0o755)
    try:
        yield new
        _swap(new, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _swap(new: Path, out: Path) -> None:
    """Puts `new` into the place of `out`, with its former content in the place of `new`; one process at a time."""
    former = new.with_name(f"{new.name}.former")
    parent = os.open(out.parent, os.O_RDONLY)
    try:
        fcntl.flock(parent, fcntl.LOCK_EX)
        if out.exists():
            out.rename(former)
        new.rename(out)
        if former.exists():
            former.rename(new)
    finally:
        os.close(parent)


def _install(lock: Path, target: Target, into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="layer") as name:
        everything = Path(name)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        command += ["--no-deps", "--require-hashes", *target.for_pip(), f"--target={everything}", f"--requirement={lock}"]
        subprocess.run(command, check=True)
        _lay(everything, (path for path in everything.rglob("*") if path.is_file()), into)


def _part(name: str) -> list[Path]:
    """Returns the files of a part of the library whose layer Lambda unpacks over the one that every function has."""
    return [file for file in _library_files() if file.is_relative_to(LIBRARY / name)]


def _library_files() -> list[Path]:
    return sorted(path for path in LIBRARY.rglob("*") if path.suffix in _PARTS_OF_LIBRARY and path.name != "build.json")


def _lay(root: Path, files: Iterable[Path], into: Path) -> None:
    under = "tributary/" if into.name == "tributary" else ""
    for file in files:
        path = file.relative_to(root).as_posix()
        if belongs(under + path):
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, into / path)


def _compile(python: Path, target: Target) -> str | None:
    """Writes byte code; without it a function, which cannot write to its layer, compiles what it imports at each cold start.

    Only a Python of the target's version can. Returns its full version, or None where there is none and none was written.
    """
    program = pythons.find(target.python)
    if program is None:
        return None
    packages = [str(path) for path in sorted(python.iterdir()) if path.name not in UNCOMPILED and path.suffix != ".dist-info"]
    command = [str(program), "-I", "-m", "compileall", "-q", "-j1", "--invalidation-mode=unchecked-hash", "-s", str(python)]
    subprocess.run([*command, "-p", _MOUNTED_AT, *packages], check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
    return pythons.asked(program, "sys.version.split()[0]")


def _settle(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (_EPOCH, _EPOCH))
    folder.chmod(0o755)
    os.utime(folder, (_EPOCH, _EPOCH))
