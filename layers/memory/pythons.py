"""Which Pythons this computer has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def find(*versions: str) -> Path | None:
    """Returns the program of the first of `versions`, such as "3.13": the running one, on PATH, or beside it."""
    for version in versions:
        beside = sorted(Path(sys.base_prefix).parent.glob(f"{version}*/bin/python{version}"), reverse=True)
        for candidate in (sys.executable, shutil.which(f"python{version}"), *map(str, beside)):
            if candidate and asked(candidate, "'%d.%d' % sys.version_info[:2]") == version:
                return Path(candidate)
    return None


def asked(python: Path | str, expression: str) -> str | None:
    """Returns what a Python prints of an expression, or None where it does not run."""
    command = [str(python), "-I", "-c", f"import sys; print({expression})"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
