"""The operator's commands where tribes live in several databases."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import pytest

from tests.unit.cli_fakes import FakeGardener, FakeOperator, Surroundings
from tests.unit.test_cli import run, said
from tributary.core.errors import CodeTooOld, Unavailable
from tributary.core.garden import GardenReport, TribeReport
from tributary.edges.cli.exits import exit_for


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    found = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    found.settings |= {"cells": "eu=postgresql://eu.example/t,us=postgresql://us.example/t"}
    found.operators = {"eu": FakeOperator(), "us": FakeOperator()}
    return found


def operator(around: Surroundings, cell: str) -> FakeOperator:
    found = around.operators[cell]
    assert isinstance(found, FakeOperator)
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("tribe", "create", "payments"),
        ("agent", "create", "a", "--role", "reader", "--tribe", "payments"),
        ("agent", "rotate", "curator", "--tribe", "payments"),
    ],
)
def test_a_command_with_a_cell_reaches_the_operators_side_of_that_one_alone(
    around: Surroundings, arguments: tuple[str, ...]
) -> None:
    if arguments[0] == "agent":
        operator(around, "eu").create_tribe("payments")
    before = len(operator(around, "eu").tokens)
    assert said(run(around, *arguments, "--cell", "eu", "--json"))["token"]
    assert len(operator(around, "eu").tokens) == before + 1
    assert not around.operator.tokens
    assert not operator(around, "us").tokens


def test_a_cell_that_is_not_set_up_is_refused_with_those_that_are(around: Surroundings) -> None:
    result = run(around, "tribe", "create", "payments", "--cell", "mars")
    assert result.exit_code == exit_for("not_found")
    assert "there is no cell 'mars'; TRIBUTARY_CELL and TRIBUTARY_CELLS name 'eu', 'us'" in result.stderr


def test_tribes_are_listed_with_their_cells_and_a_cell_that_is_away_is_told_of(around: Surroundings) -> None:
    around.operator.create_tribe("payments")
    operator(around, "us").create_tribe("payments")
    around.operators["eu"] = Unavailable()
    result = run(around, "tribe", "list")
    assert [line.split("\t")[:2] for line in result.stdout.splitlines()] == [
        ["cell", "tribe"],
        ["(home)", "payments"],
        ["us", "payments"],
    ]
    assert result.stderr.startswith("Error: cell 'eu': The database cannot be reached")
    assert result.exit_code == exit_for("unavailable")
    assert [one["cell"] for one in json.loads(run(around, "tribe", "list", "--json").stdout)] == [None, "us"]
    assert run(around, "tribe", "list", "--cell", "us").stdout.startswith("tribe\t")


def test_migrating_every_cell_goes_past_one_that_fails_and_the_exit_code_tells(around: Surroundings) -> None:
    operator(around, "eu").failure = CodeTooOld()
    result = run(around, "migrate", "--all-cells", "--json")
    assert result.exit_code == exit_for("code_too_old")
    assert json.loads(result.stdout) == [
        {"cell": None, "migrated": True},
        {"cell": "eu", "migrated": False},
        {"cell": "us", "migrated": True},
    ]
    assert json.loads(result.stderr)["error"]["detail"].startswith("cell 'eu': ")
    assert (around.operator.migrated, operator(around, "us").migrated) == (1, 1)


def test_migrating_without_more_is_the_own_cells_and_with_a_name_that_ones(around: Surroundings) -> None:
    assert said(run(around, "migrate", "--json")) == {"migrated": True}
    assert said(run(around, "migrate", "--cell", "us", "--json")) == {"migrated": True}
    assert (around.operator.migrated, operator(around, "eu").migrated, operator(around, "us").migrated) == (1, 0, 1)
    assert run(around, "migrate", "--all-cells", "--cell", "us").exit_code == 2


def test_the_gardeners_report_says_which_cell_was_not_tended(around: Surroundings) -> None:
    tended = TribeReport(tribe_id=UUID(int=1), name="payments", rules=(), failed="not_migrated")
    reports = [
        (None, GardenReport(dry_run=False, tribes=(tended,))),
        ("eu", GardenReport(dry_run=False, tribes=(), failed="unavailable")),
        ("us", GardenReport(dry_run=False, tribes=(tended,))),
    ]
    around.gardener = FakeGardener(report=GardenReport.of_cells(reports, dry_run=False))
    result = run(around, "garden")
    assert result.exit_code == exit_for("unavailable")
    assert "The run in the cell 'eu' ended early: unavailable." in result.stderr
    assert "The run in the tribe 'payments' of the cell 'us' ended early: not_migrated." in result.stderr
    document = json.loads(run(around, "garden", "--json").stdout)
    assert [(one["cell"], one["tribes"], one["failed"]) for one in document["cells"]] == [
        (None, 1, None),
        ("eu", 0, "unavailable"),
        ("us", 1, None),
    ]
