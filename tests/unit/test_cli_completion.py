"""`tributary completion`: a real shell asks the real program what may come next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tributary
from tests.unit.cli_fakes import Surroundings
from tests.unit.test_cli import run
from tributary.edges.cli import known_tribes

RUN = "from tributary.edges.cli import main; main()"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which `tributary` is a program."""
    program = tmp_path / "bin" / "tributary"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -W error -c '{RUN}' \"$@\"\n")
    program.chmod(0o755)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path(tributary.__file__).parents[1]),
        "TRIBUTARY_HOME": str(tmp_path / "home"),
    }


def completed(environment: dict[str, str], *words: str) -> list[str]:
    """Returns what bash offers for the last of the words, after it took the script in as the manual says."""
    script = """
    eval "$(tributary completion bash)"
    function=$(complete -p tributary | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    COMP_WORDS=(tributary "$@"); COMP_CWORD=$#
    "$function" tributary
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "--norc", "-c", script, "bash", *words]
    found = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
    assert found.stderr == ""
    return found.stdout.split()


def test_bash_completes_commands_options_and_values(environment: dict[str, str]) -> None:
    assert completed(environment, "rec") == ["recall"]
    assert completed(environment, "curate", "accept") == ["accept", "accept-review"]
    assert {"--situation", "--source"} <= set(completed(environment, "learn", "--s"))
    assert completed(environment, "learn", "--source", "o") == ["observed"]


def test_bash_completes_the_tribes_that_were_seen_on_this_computer(environment: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    surroundings = Surroundings(environment={"TRIBUTARY_HOME": str(home)})
    for name in ("payments", "platform", "two words", "$(touch x)"):
        assert run(surroundings, "tribe", "create", name).exit_code == 0
    assert completed(environment, "space", "list", "--tribe", "p") == ["payments", "platform"]
    assert completed(environment, "probe", "--tribe", "pay") == ["payments"]
    assert completed(environment, "agent", "list", "--tribe", "") == ["payments", "platform"]
    del surroundings.operator.kept["platform"]
    assert run(surroundings, "tribe", "list").exit_code == 0
    assert completed(environment, "space", "list", "--tribe", "p") == ["payments"]


@pytest.mark.parametrize("content", ["{", "3", '["ok", 3, "`id`"]', '{"a": 1}'])
def test_a_broken_list_of_tribes_offers_what_is_whole_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    (tmp_path / "known-tribes.json").write_text(content)
    monkeypatch.setenv("TRIBUTARY_HOME", str(tmp_path))
    assert known_tribes.complete("") == (["ok"] if "ok" in content else [])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_ask_the_same_program(environment: dict[str, str], tmp_path: Path, shell: str) -> None:
    script = run(Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path)}), "completion", shell)
    assert script.exit_code == 0
    assert f"_TRIBUTARY_COMPLETE=complete_{shell}" in script.stdout
    asking = {
        "_TRIBUTARY_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "tributary rec",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answered = subprocess.run(["tributary"], env={**environment, **asking}, capture_output=True, encoding="utf-8", check=False)
    assert "recall" in answered.stdout
    assert "retire" not in answered.stdout


def test_a_shell_that_is_none_of_these_is_refused(tmp_path: Path) -> None:
    assert run(Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path)}), "completion", "tcsh").exit_code == 2


def test_control_without_the_preparation_the_program_offers_nothing_of_use(environment: dict[str, str]) -> None:
    asking = {"_TRIBUTARY_COMPLETE": "complete_bash", "COMP_WORDS": "tributary rec", "COMP_CWORD": "1"}
    bare = "from tributary.edges.cli.app import app; app(prog_name='tributary')"
    found = subprocess.run(
        [sys.executable, "-c", bare], env={**environment, **asking}, capture_output=True, encoding="utf-8", check=False
    )
    assert found.stdout.split() != ["recall"]
    assert json.dumps(found.stdout)
