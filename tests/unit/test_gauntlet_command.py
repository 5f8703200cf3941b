"""`python -m evals.gauntlet` refuses what cannot work before it starts anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evals.gauntlet.__main__ import main

ROOT = Path(__file__).parents[2]
WITHOUT_MATPLOTLIB = """
import sys
from importlib.machinery import PathFinder

class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] == "matplotlib" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Hidden if finder is PathFinder else finder for finder in sys.meta_path]
from evals.gauntlet.__main__ import main
main(["--plot", "steps.png"])
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "-1"], "must not be negative"),
        (["--seed", "seven"], "--seed"),
        (["--plot", "steps.txt"], "must end in .png, .svg or .pdf"),
        (["--plot", "no-such-folder/steps.png"], "there is no folder no-such-folder"),
        (["--no-such-option"], "--no-such-option"),
        (["--distil"], "set TRIBUTARY_DISTILLER to bedrock, openai or claude"),
    ],
)
def test_a_wrong_argument_ends_with_code_2_and_says_why(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""


def test_a_plot_without_matplotlib_is_refused_with_how_to_get_it() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_MATPLOTLIB], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install matplotlib" in done.stderr


def test_the_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "Exit codes: 0 every claim holds" in " ".join(capsys.readouterr().out.split())
