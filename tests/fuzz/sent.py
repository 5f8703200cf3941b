"""Runs schemathesis over a description of an API, against a server of it, and tells what it found.

It runs as its own command in a process of its own: what a person would run is what is run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.served import ROOT

DESCRIPTION = ROOT / "docs" / "api" / "openapi.json"
_LONGEST_S = 7_200
_SETUP = """
hooks = "tests.fuzz.hooks"
continue-on-failure = true
request-timeout = 40.0
suppress-health-check = ["all"]
warnings = false

[generation]
database = "none"
no-shrink = {no_shrink}

[checks]
positive_data_acceptance.enabled = false
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]

[[operations]]
include-operation-id = ["learn_batch", "mcp"]
checks.negative_data_rejection.enabled = false

[[operations]]
include-operation-id = ["evidence"]
checks.ensure_resource_availability.enabled = false

[phases.stateful]
inference.algorithms = []
"""
"""A batch and MCP tell in a reply of 200 what is wrong with a part of it; a file is there once its bytes have come. Links are
those that the description has: what schemathesis would guess leads to the curator's own agent and token."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a run came to. `accepted` counts sound requests that were served, by operation; `told` is what a person would read."""

    cases: int
    operations: int
    failures: tuple[str, ...]
    accepted: Counter[str]
    told: str


def sent(
    url: str,
    folder: Path,
    *,
    token: str | None = None,
    description: Path = DESCRIPTION,
    phases: Sequence[str] = ("examples", "coverage", "fuzzing", "stateful"),
    examples: int | None = None,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    one_in: int = 1,
) -> Found:
    """Sends every operation of the description what schemathesis makes of it: sound and unsound requests, and chains of them.

    With `examples` as many random requests an operation as that; without, the same requests each time. `only` names operations by
    their ids, `without` leaves checks out, and of the boundary cases one
    in so many is sent.
    """
    setup, report = folder / "schemathesis.toml", folder / "report.json"
    setup.write_text(_SETUP.format(no_shrink="false" if examples else "true"), encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(setup), "--no-color", "run", str(description)]
    command += ["--url", url, "--phases", ",".join(phases), "--report", "json", "--report-json-path", str(report)]
    command += ["--max-examples", str(examples)] if examples else ["--generation-deterministic", "--max-examples", "12"]
    command += ["--header", f"Authorization: Bearer {token}"] if token else []
    command += [part for one in only for part in ("--include-operation-id", one)]
    command += ["--exclude-checks", ",".join(without)] if without else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared")]),
        "PYTHONHASHSEED": "0",
        "FUZZ_ONE_IN": str(one_in),
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    told = done.stdout + done.stderr
    assert report.exists(), told
    return _read(json.loads(report.read_text(encoding="utf-8")), told)


def _read(report: dict[str, Any], told: str) -> Found:
    assert report["complete"], told
    assert not report["errors"], told
    accepted: Counter[str] = Counter()
    for operation, phases in report["valid_rates"].items():
        accepted[operation] += sum(rates["accepted"] for rates in phases.values())
    failures = tuple(f"{failure['title']}: {operation}" for failure in report["failures"] for operation in failure["operations"])
    return Found(
        cases=report["test_cases"]["generated"],
        operations=report["operations"]["tested"],
        failures=failures,
        accepted=accepted,
        told=told,
    )
