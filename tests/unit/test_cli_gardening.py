"""`tributary garden`: what it asks for, and how it tells of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from tests.unit.cli_fakes import FakeGardener, Surroundings
from tests.unit.test_cli import run
from tributary.core.garden import GardenReport, Rule, RuleReport, TribeReport
from tributary.edges.cli.exits import exit_for

BUSY = GardenReport(
    dry_run=False,
    tribes=(
        TribeReport(
            tribe_id=UUID(int=1),
            name="payments\x1b[2J",
            rules=(
                RuleReport(rule=Rule.STAMP, done=3, kinds={"expired": 1, "withered": 2}),
                RuleReport(rule=Rule.EVICT, refused={"in_grace": 4}),
                RuleReport(rule=Rule.EMBED, left=2, failed="bad_setting"),
            ),
            failed="unavailable",
        ),
    ),
    waiting=2,
    failed="unavailable",
)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")}, gardener=FakeGardener(report=BUSY))


def test_it_tells_what_each_rule_did_what_is_left_and_what_was_refused(around: Surroundings) -> None:
    result = run(around, "garden")
    assert result.exit_code == exit_for("unavailable"), "what was done is told, and that it is not all"
    assert result.stdout.splitlines() == [
        "rule\tdone\tleft\twhat",
        "stamp\t3\t0\t1 expired, 2 withered",
        "evict\t0\t0\tnot done: 4 in_grace",
        "embed\t0\t2\tfailed: bad_setting",
    ]
    assert "ended early: unavailable" in result.stderr
    assert "Not reached: 2 tribes." in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "asked"), [((), (None, False)), (("--tribe", "payments", "--dry-run"), ("payments", True))]
)
def test_it_goes_through_all_tribes_or_one_and_changes_nothing_when_told_so(
    around: Surroundings, arguments: tuple[str, ...], asked: tuple[str | None, bool]
) -> None:
    around.gardener.report = replace(BUSY, failed=None)
    assert run(around, "garden", *arguments).exit_code == 0
    assert around.gardener.asked == [asked]


def test_it_speaks_json(around: Surroundings) -> None:
    document = json.loads(run(around, "garden", "--json").stdout)
    assert document == BUSY.document()
    assert [one["done"] for one in document["total"] if one["rule"] == "stamp"] == [3]


def test_it_says_when_there_is_nothing_to_do_and_that_it_was_a_dry_run(around: Surroundings) -> None:
    around.gardener.report = GardenReport(dry_run=True, tribes=())
    result = run(around, "garden", "--dry-run")
    assert result.stdout == ""
    assert "nothing to do" in result.stderr
    assert "Nothing was changed" in result.stderr
