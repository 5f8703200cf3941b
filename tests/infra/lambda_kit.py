"""What it takes to run a function as Lambda does, on this computer: emulator, runtime, built layer, read-only disk."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from layers.memory import pythons
from layers.memory.build import build, build_dashboard, build_local, build_mcp, replacing
from layers.memory.recipe import PYTHONS, ROOT, RUNTIME_PYTHON, Target, this_machine

BUILD = ROOT / "build"
HERE = Path(__file__).parent
WATCHING = HERE / "watching" / "sitecustomize.py"
BESIDE = {"local": build_local, "dashboard": build_dashboard, "mcp": build_mcp}
_EMULATOR = HERE / "emulator.txt"
_RUNTIME = HERE / "runtime.txt"


@dataclass(frozen=True, kw_only=True)
class Kit:
    """`program` is the emulator's folder, `runtime` that of Lambda's client for Python, `python` the interpreter's program."""

    target: Target
    python: Path
    program: Path
    runtime: Path

    @property
    def lang(self) -> Path:
        """The folder that the interpreter is installed in."""
        return Path(pythons.asked(self.python, "sys.base_prefix") or "/usr")


@cache
def kit() -> Kit:
    """Returns the kit for Lambda's Python where it is found, else for the newest that the lock knows, fetched once."""
    here = this_machine()
    python = pythons.find(RUNTIME_PYTHON, *reversed(PYTHONS)) or Path(sys.executable)
    version = pythons.asked(python, "'%d.%d' % sys.version_info[:2]") or RUNTIME_PYTHON
    target = Target(machine=here, python=version)
    program, runtime = BUILD / "emulator" / here, BUILD / "emulator" / f"{here}-{version}"
    for pins, folder, fetch in ((_EMULATOR, program, _fetch_program), (_RUNTIME, runtime, _fetch_runtime)):
        stamp, wanted = folder / "fetched.txt", pins.read_bytes() + WATCHING.read_bytes()
        if not stamp.exists() or stamp.read_bytes() != wanted:
            with replacing(folder) as new:
                fetch(target, new)
                (new / stamp.name).write_bytes(wanted)
    return Kit(target=target, python=python, program=program, runtime=runtime)


@cache
def _own() -> Path:
    """Returns a folder of this process, gone with it: another one builds the same, and may be done while this one still reads."""
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="layers-here.", dir=BUILD))
    folder.chmod(0o755)  # functions run as a user of their own
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def built_layer() -> Path:
    """Returns the layer for this computer, built anew once a process."""
    out = _own() / "layer"
    build(kit().target, out)
    return out


@cache
def built_with(beside: str) -> Path:
    """Returns the layer with another one (`local`, `dashboard`, `mcp`) in one folder, as Lambda unpacks them over one another."""
    out, other = _own() / f"layer-with-{beside}", _own() / f"layer-{beside}"
    BESIDE[beside](kit().target, other)
    for layer in (built_layer(), other):
        shutil.copytree(layer, out, copy_function=os.link, dirs_exist_ok=True)
    return out


@cache
def isolation() -> tuple[str, ...]:
    """Returns the command before one that gives it a mount namespace, or none where that is not permitted."""
    for command in (("unshare", "-m"), ("unshare", "-rm")):
        with tempfile.TemporaryDirectory() as folder:
            tried = [*command, "mount", "-t", "tmpfs", "tmpfs", folder]
            if shutil.which("unshare") and subprocess.run(tried, capture_output=True, check=False).returncode == 0:
                return command
    return ()


def described() -> str:
    """Returns how functions run here, for people."""
    disk = "read-only disk but /tmp" if isolation() else "writing outside the function's /tmp refused in the process"
    return f"Lambda's runtime: Python {kit().target.python} on {kit().target.machine}, {disk}"


def _fetch_program(target: Target, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="emulator") as name:
        _pip("download", target, f"--dest={name}", f"--requirement={_EMULATOR}")
        with zipfile.ZipFile(next(Path(name).glob("*.whl"))) as wheel:
            content = wheel.read(f"samcli/local/rapid/aws-lambda-rie-{target.machine}")
    (folder / "emulator").write_bytes(content)
    (folder / "emulator").chmod(0o755)


def _fetch_runtime(target: Target, folder: Path) -> None:
    _pip("install", target, f"--target={folder}", f"--requirement={_RUNTIME}")
    shutil.copyfile(WATCHING, folder / WATCHING.name)


def _pip(verb: str, target: Target, *rest: str) -> None:
    command = [sys.executable, "-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    subprocess.run([*command, *target.for_pip(), *rest], check=True)
