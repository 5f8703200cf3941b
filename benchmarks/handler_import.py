"""Import of the function handlers against importing psycopg + pydantic + the event handler alone.

Every measurement is the CPU time of a fresh process without the interpreter's start; they take turns, and the medians are
compared. `recall and service` adds what the first request imports: the service and, with it, psycopg.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
RUNS = 9
WANTED = Target(bound=1.3)
HANDLERS = ("recall", "learn", "authorizer", "migrate")

BASELINE = "import psycopg, pydantic; from aws_lambda_powertools.event_handler import APIGatewayHttpResolver"
LOAD = (
    "import importlib.util as u; s = u.spec_from_file_location('handler', {path!r}); "
    "m = u.module_from_spec(s); s.loader.exec_module(m)"
)
TIMED = "import time; began = time.process_time()\n{code}\nprint(time.process_time() - began)"


def measure(progress: Progress) -> Measured:
    progress.step("importing the handlers")
    codes = {"baseline": BASELINE, **{name: _handler(name) for name in HANDLERS}}
    codes["recall and service"] = _handler("recall") + "; import tributary.service"
    for code in codes.values():
        _milliseconds(code)  # the first import writes byte code and fills the disk's cache
    taken: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(RUNS):
        for name, code in codes.items():
            taken[name].append(_milliseconds(code))
    samples = {name: Samples(values=values) for name, values in taken.items()}
    baseline = samples.pop("baseline")
    figures = tuple(
        Figure(
            name=f"import: {name}",
            value=sample.median,
            p95=sample.p95,
            unit="ms",
            reference=baseline.median,
            beside="psycopg, pydantic, event handler",
            target=WANTED if name == "recall" else None,
            note=f"CPU time of {RUNS} fresh processes",
            details={"samples": sample.document(), "baseline": baseline.document()},
        )
        for name, sample in samples.items()
    )
    return Measured(figures=figures)


def _milliseconds(code: str) -> float:
    """Returns how long `code` takes in a process of its own, without the interpreter's start."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    script = TIMED.format(code=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout) * 1000


def _handler(function: str) -> str:
    return LOAD.format(path=str(ROOT / "functions" / function / "handler.py"))
