"""`tributary activity` and `tributary evaluations`: what they tell, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.activity_fakes import ACTIVITY, EVALUATION
from tests.unit.cli_fakes import Surroundings
from tests.unit.test_cli import run


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    found = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    found.tribe.replies |= {"activity": ACTIVITY, "evaluations": {"runs": [EVALUATION]}}
    return found


def test_activity_is_told_in_figures_and_by_the_hours_in_which_something_happened(around: Surroundings) -> None:
    said = run(around, "activity", "--hours", "48").stdout.splitlines()
    assert said[1:6] == [
        "conflicts settled: 3 (1 replaced, 0 accepted, 2 rejected, 0 both stand)",
        "recalls: 2 complete, 1 unknown; p50 12.5 ms, p95 70.0 ms",
        "learns: 3; p50 12.5 ms, p95 70.0 ms",
        "judged: 8 pairs, 2 by the strong judge as well",
        "models: 0.0375 dollars",
    ]
    assert said[6] == "from (UTC)\tticks\trecalls\tevents"
    assert said[7].endswith("\t2\t3\t2 learned, 1 superseded")
    assert said[8:] == [
        "purpose\tmodel\tcalls\tfailed\tp50 ms\tp95 ms\tdollars",
        "strong_judge\topenai:gpt\\x1b\t3\t1\t12.5\t70.0\t0.0375",
    ]
    assert dict(around.tribe.requests[-1].url.params) == {"hours": "48"}


def test_a_quiet_tribe_is_told_to_a_reader_in_a_few_lines(around: Surroundings) -> None:
    around.tribe.replies["activity"] = {**ACTIVITY, "buckets": [ACTIVITY["buckets"][0]], "models": None}
    said = run(around, "activity").stdout.splitlines()
    assert len(said) == 4
    assert said[2].startswith("recalls: none")


def test_a_run_is_told_with_its_figures_its_matrix_and_its_curve(around: Surroundings) -> None:
    said = run(around, "evaluations").stdout
    assert "classification\taccuracy\t0.9400\t0.905 to 0.963\t267\n" in said
    assert "label, answer:\tsame\tunsure\nsame\t71\t8\n" in said
    assert "1\t3\t30.0\t31.5\n" in said
    assert "settled by the cheap judge: 70 of 79 pairs; the strong one was asked about 9\n" in said


def test_a_database_without_a_run_says_so(around: Surroundings) -> None:
    around.tribe.replies["evaluations"] = {"runs": []}
    assert run(around, "evaluations").stdout.startswith("This database keeps no run")


@pytest.mark.parametrize("given", [("activity", "--hours", "745"), ("activity", "--hours", "x"), ("evaluations", "--limit", "0")])
def test_what_is_out_of_range_is_refused_before_anything_is_asked(around: Surroundings, given: tuple[str, ...]) -> None:
    assert run(around, *given).exit_code == 2
    assert around.tribe.requests == []
