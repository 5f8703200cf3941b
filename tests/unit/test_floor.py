"""`benchmarks/floor.py` says what it needs before it loads any model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEANING = "## Meaning\nThe disk of the host is full.\n"
STEPS = "## Steps\nDelete the oldest archives of the log.\n"
OTHER = "# Queue\n## Steps\nDrain the queue before the next deploy.\n"


def floor(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/floor.py", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "files",
    [
        {"a.md": "only words\n"},
        {"a.md": f"# Disk\n{STEPS}", "b.md": OTHER},
        {"a.md": f"# Disk\n{MEANING}", "b.md": OTHER},
        {"a.md": f"# Disk\n{MEANING}{STEPS}"},
        {"a.md": f"{MEANING}{STEPS}", "b.md": OTHER},
    ],
    ids=["no section", "no meaning", "nothing beside the meaning", "one file", "no title"],
)
def test_markdown_that_cannot_be_measured_on_ends_with_2_and_what_is_needed(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = floor(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the Markdown under {tmp_path} cannot be measured on: it needs two files or more" in done.stderr


def test_markdown_that_has_all_of_it_is_measured(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# Disk\n{MEANING}{STEPS}")
    (tmp_path / "b.md").write_text(OTHER)
    done = floor(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 sections of 2 runbooks" in done.stdout


def test_a_folder_without_any_markdown_is_skipped(tmp_path: Path) -> None:
    done = floor(tmp_path / "none")
    assert done.returncode == 0
    assert done.stdout.startswith("skipped: no runbooks")
