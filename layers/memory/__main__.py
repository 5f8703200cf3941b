"""`python -m layers.memory [--machine arm64|x86_64] [--local] [--out FOLDER]`: builds the layer and says its size.

The folder is build/layer, or by the second layer build/layer-local, with `-x86_64` behind it for that machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from layers.memory.build import build, build_local, digest, size
from layers.memory.recipe import PYTHONS, ROOT, RUNTIME_PYTHON, Target


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m layers.memory", description=__doc__)
    parser.add_argument("--machine", choices=("arm64", "x86_64"), default="arm64")
    parser.add_argument("--python", choices=PYTHONS, default=RUNTIME_PYTHON)
    parser.add_argument("--local", action="store_true", help="the second layer, for functions that embed by themselves")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    name = "layer" + ("-local" if options.local else "") + ("" if options.machine == "arm64" else f"-{options.machine}")
    out: Path = options.out or ROOT / "build" / name
    (build_local if options.local else build)(Target(machine=options.machine, python=options.python), out)
    print(f"{out}: {size(out) / 1e6:.1f} MB, sha256 {digest(out)}")
    if not list(out.rglob("*.pyc")):
        print(f"without byte code, for want of a Python {options.python}: each cold start compiles what it imports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
