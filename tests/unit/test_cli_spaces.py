"""`tributary space`: what it asks for, and how it tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli_fakes import FakeOperator, Surroundings, space_made
from tests.unit.test_cli import run, said
from tributary.core.space import SpaceState


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    kept = [space_made(1, SpaceState.SERVING), space_made(2, SpaceState.BUILDING)]
    operator = FakeOperator(kept={"default": {}}, kept_spaces=kept)
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")}, operator=operator)


def test_the_spaces_are_listed_and_their_names_obey_nothing(around: Surroundings) -> None:
    listed = run(around, "space", "list")
    first, second = listed.stdout.splitlines()[1:]
    assert "\x1b" not in listed.stdout
    assert first.split("\t")[2:] == ["serving", "2", "1", "no"]
    assert second.split("\t")[2:] == ["building", "2", "1", "yes"]
    assert [one["number"] for one in said(run(around, "space", "list", "--json"))] == [1, 2]


def test_a_space_is_begun(around: Surroundings) -> None:
    assert "1 lesson without a vector there" in run(around, "space", "create").stdout
    assert said(run(around, "space", "create", "--json"))["state"] == "building"


def test_a_build_says_what_is_left_and_ends_with_another_code_when_something_is(around: Surroundings) -> None:
    done = run(around, "space", "build")
    assert (done.exit_code, "2 vectors" in done.stdout, "none is left" in done.stdout) == (0, True, True)
    assert "index of its own" in done.stdout
    around.operator.left_by_build = 4
    left = run(around, "space", "build", "--space", "1", "--json")
    assert (said(left, 6)["left"], said(left, 6)["indexed"]) == (4, False)


def test_a_switch_says_from_which_tick_on_and_what_is_kept(around: Surroundings) -> None:
    done = run(around, "space", "switch")
    assert "From tick 8 on" in done.stdout
    assert "'old' is kept" in done.stdout
    exact = said(run(around, "space", "switch", "--space", "2", "--exact", "--json"))
    assert (exact["from"], exact["tick"], exact["to"].endswith("exactly")) == ("old", 8, True)


def test_a_drop_says_whether_the_space_is_forgotten(around: Surroundings) -> None:
    assert "forgotten" in run(around, "space", "drop", "--space", "1").stdout
    kept = run(around, "space", "drop", "--space", "2")
    assert ("3 vectors" in kept.stdout, "forgotten" in kept.stdout) == (True, False)
    assert run(around, "space", "drop").exit_code == 2, "which one must be said"


@pytest.mark.parametrize("command", ["list", "create", "build", "switch"])
def test_a_tribe_that_is_not_there_is_named(around: Surroundings, command: str) -> None:
    refused = run(around, "space", command, "--tribe", "nowhere")
    assert (refused.exit_code, "nowhere" in refused.stderr) == (5, True)
