"""Packages of npm that tests run, installed by npm itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

MOST_S = 240
_SYSTEMS_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def npm_install(folder: Path, *packages: str) -> None:
    """Installs packages, or those of the folder's package.json, into the folder; fails when the registry cannot be reached."""
    npm = shutil.which("npm")
    assert npm is not None, "needs npm"
    environment = dict(os.environ)
    # Node 20 trusts its own list alone, and the registry may stand behind a proxy that the system knows.
    if _SYSTEMS_CERTIFICATES.exists():
        environment.setdefault("NODE_EXTRA_CA_CERTS", str(_SYSTEMS_CERTIFICATES))
    words = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefer-offline", "--prefix", str(folder), *packages]
    subprocess.run(words, cwd=folder, env=environment, check=True, timeout=MOST_S)
