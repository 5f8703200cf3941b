"""Which build this is: what its layer says, and never a reason to fail."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from tributary import __version__
from tributary.telemetry.build import FILE, SOURCE, UNREADABLE, Build, this_build

WRITTEN = {"version": "1.2.3", "build": "5f0c", "python": "3.13", "platform": "aarch64", "lock": "77ab"}


def test_checkout_is_no_build() -> None:
    assert not FILE.exists()
    assert this_build() == Build(version=__version__, build=SOURCE, python=platform.python_version())


def test_layers_build_is_what_it_says_on_the_python_that_runs(tmp_path: Path) -> None:
    file = tmp_path / "build.json"
    file.write_text(json.dumps(WRITTEN))
    assert this_build(file).document() == {**WRITTEN, "python": platform.python_version()}


@pytest.mark.parametrize("content", ["", "no JSON", "[]", "{}", "\x00"])
def test_file_that_says_nothing_of_use_is_told_as_such(tmp_path: Path, content: str) -> None:
    file = tmp_path / "build.json"
    file.write_text(content)
    assert this_build(file).build == UNREADABLE
