"""Import of the recall handler against importing psycopg + pydantic + the event handler alone; at most 1.3x is wanted.

Every measurement is the CPU time of a fresh process without the interpreter's start; they take turns, and the medians are
compared. The last line adds what the first request imports: the service and, with it, psycopg.

    python benchmarks/handler_import.py [--runs 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WANTED = 1.3

BASELINE = "import psycopg, pydantic; from aws_lambda_powertools.event_handler import APIGatewayHttpResolver"
LOAD = (
    "import importlib.util as u; s = u.spec_from_file_location('handler', {path!r}); "
    "m = u.module_from_spec(s); s.loader.exec_module(m)"
)
TIMED = "import time; began = time.process_time()\n{code}\nprint(time.process_time() - began)"


def seconds(code: str) -> float:
    """Returns how long `code` takes in a process of its own, without the interpreter's start."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    script = TIMED.format(code=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def handler(function: str) -> str:
    return LOAD.format(path=str(ROOT / "functions" / function / "handler.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    codes = {"baseline": BASELINE, **{name: handler(name) for name in ("recall", "learn", "authorizer", "migrate")}}
    codes["recall and service"] = handler("recall") + "; import tributary.service"
    taken: dict[str, list[float]] = {name: [] for name in codes}
    for code in codes.values():
        seconds(code)  # the first import writes byte code and fills the disk's cache
    for _ in range(runs):
        for name, code in codes.items():
            taken[name].append(seconds(code))
    baseline = statistics.median(taken["baseline"])
    print(f"{'import of':<20}{'median ms':>10}{'ratio':>8}   ({runs} fresh processes each)")
    for name, samples in taken.items():
        median = statistics.median(samples)
        wanted = f"   wanted: at most {WANTED}" if name == "recall" else ""
        print(f"{name:<20}{median * 1000:>10.0f}{median / baseline:>8.2f}{wanted}")


if __name__ == "__main__":
    main()
