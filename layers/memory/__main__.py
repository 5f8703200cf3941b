"""`python -m layers.memory [--machine arm64|x86_64] [--layer NAME] [--out FOLDER]`: builds a layer and says its size.

The folder is build/layer; of the local embedder's layer build/layer-local, of the dashboard's build/layer-dashboard, of the
function mcp's build/layer-mcp. It ends in `-x86_64` for that machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from layers.memory.build import build, build_dashboard, build_local, build_mcp, digest, size
from layers.memory.recipe import PYTHONS, ROOT, RUNTIME_PYTHON, Target

BUILDS = {"memory": build, "local": build_local, "dashboard": build_dashboard, "mcp": build_mcp}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m layers.memory", description=__doc__)
    parser.add_argument("--machine", choices=("arm64", "x86_64"), default="arm64")
    parser.add_argument("--python", choices=PYTHONS, default=RUNTIME_PYTHON)
    parser.add_argument("--layer", choices=BUILDS, default="memory", help="memory: what every function has (the default)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    name = (
        "layer"
        + ("" if options.layer == "memory" else f"-{options.layer}")
        + ("" if options.machine == "arm64" else f"-{options.machine}")
    )
    out: Path = options.out or ROOT / "build" / name
    BUILDS[options.layer](Target(machine=options.machine, python=options.python), out)
    print(f"{out}: {size(out) / 1e6:.1f} MB, sha256 {digest(out)}")
    if not list(out.rglob("*.pyc")):
        print(f"without byte code, for want of a Python {options.python}: each cold start compiles what it imports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
