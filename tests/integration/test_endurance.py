"""`make load` in its short form: it passes on what the product is, and fails on a server that fails or leaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMALL = ["--tribes", "3", "--agents", "4", "--lessons", "30", "--rate", "12", "--nuisances", "60"]


def load(folder: Path, *options: str) -> tuple[int, str]:
    """Returns the exit status, and all that was said."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.endurance", *SMALL, "--out", str(folder), *options]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def test_a_server_with_a_pool_of_one_and_one_with_slow_models_stand_the_load(tmp_path: Path) -> None:
    status, said = load(tmp_path, "--scene", "pool of one", "--scene", "slow models", "--seconds", "14")
    assert status == 0, said
    document = json.loads((tmp_path / "load.json").read_text())
    assert (tmp_path / "load.png").stat().st_size > 10_000
    one, slow = document["scenes"]
    for scene in (one, slow):
        assert scene["milliseconds"]["recall"]["p50"] > 0
        assert set(scene["outcomes"]) <= {"learned", "reinforced", "unchanged", "superseded", "disputed", "pending"}
    assert max(one["server"]["database connections"]) <= 4


def test_a_database_that_is_killed_in_the_middle_fails_it(tmp_path: Path) -> None:
    status, said = load(tmp_path, "--scene", "as it is", "--seconds", "8", "--plant", "database")
    assert status == 1, said
    assert "the database cannot be asked what it holds" in said
    assert "unavailable" in said


def test_a_server_that_leaks_fails_it(tmp_path: Path) -> None:
    status, said = load(tmp_path, "--scene", "as it is", "--seconds", "10", "--plant", "leak")
    assert status == 1, said
    assert "memory, MB: rose by" in said
