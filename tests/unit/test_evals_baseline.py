"""The gate: what falls by more than its tolerance, is missing, or was measured on fewer cases turns it red."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from evals import baseline
from evals.baseline import Baseline, Expected, Standing, compare, updated
from evals.bench import Bench, Tier
from evals.figures import Measured, Metric, share, skipped
from evals.models import Models, local
from evals.report import show_compared
from evals.run import run_suite
from tests.doubles import BrokenJudge, RuledJudge, WordScreen
from tests.evals_fakes import Quiet, without_a_database
from tributary.core.decision import VerdictKind
from tributary.core.evaluation import Better

HIGH = Expected(value=0.9, tolerance=0.02, direction=Better.HIGHER, n=100)
ZERO = Expected(value=0.1, tolerance=0.02, direction=Better.ZERO, n=100)
LOW = Expected(value=0.1, tolerance=0.02, direction=Better.LOWER, n=100)


def measured(*metrics: Metric, **fields: object) -> Measured:
    return replace(Measured(suite="s", metrics=metrics), **fields)  # type: ignore[arg-type]  # the test's own keywords


def standing(expected: Expected, value: float, n: int = 100) -> Standing:
    (one,) = compare({"s": {"m": expected}}, [measured(Metric(name="m", value=value, n=n, better=expected.direction))])
    return one.standing


@pytest.mark.parametrize(
    ("expected", "value", "found"),
    [
        (HIGH, 0.9, Standing.HELD),
        (HIGH, 0.88, Standing.HELD),
        (HIGH, 0.87, Standing.FELL),
        (HIGH, 0.95, Standing.IMPROVED),
        (LOW, 0.1, Standing.HELD),
        (LOW, 0.12, Standing.HELD),
        (LOW, 0.13, Standing.FELL),
        (ZERO, 0.11, Standing.HELD),
        (ZERO, -0.09, Standing.IMPROVED),
        (ZERO, -0.13, Standing.FELL),
        (LOW, 0.05, Standing.IMPROVED),
    ],
)
def test_a_figure_falls_against_its_direction_and_beyond_its_tolerance(expected: Expected, value: float, found: Standing) -> None:
    assert standing(expected, value) is found
    assert found.fails == (found is Standing.FELL)


def test_a_figure_of_fewer_cases_fails_however_good_it_is() -> None:
    assert standing(HIGH, 1.0, n=99) is Standing.FEWER
    assert Standing.FEWER.fails
    assert standing(HIGH, 0.9, n=200) is Standing.HELD


def test_a_missing_figure_fails_and_one_that_cannot_be_measured_here_does_not() -> None:
    (missing,) = compare({"s": {"m": HIGH}}, [measured()])
    assert (missing.standing, missing.standing.fails) == (Standing.MISSING, True)
    (absent,) = compare({"s": {"m_1": HIGH}}, [measured(not_measured={"m_": "no books"})])
    assert (absent.standing, absent.standing.fails, absent.why) == (Standing.NOT_MEASURED, False, "no books")
    (other,) = compare({"s": {"other": HIGH}}, [measured(not_measured={"m_": "no books"})])
    assert other.standing is Standing.MISSING


def test_suites_that_did_not_run_are_not_compared() -> None:
    assert compare({"other": {"m": HIGH}}, [measured()]) == []


def test_what_is_only_told_is_not_watched() -> None:
    told = Metric(name="ms", value=3.0, n=1, tolerance=None)
    assert compare({}, [measured(told)]) == []
    assert updated({}, [measured(told)]) == {}


def test_an_update_keeps_tolerances_and_what_cannot_be_measured_here_and_drops_what_is_gone() -> None:
    before: Baseline = {"s": {"m": replace(HIGH, tolerance=0.5), "gone": HIGH, "far_1": LOW}, "other": {"x": LOW}}
    after = updated(before, [measured(share("m", 3, 4), share("new", 1, 4), not_measured={"far_": "no books"})])
    assert set(after["s"]) == {"m", "new", "far_1"}
    assert after["s"]["m"] == Expected(value=0.75, tolerance=0.5, direction=Better.HIGHER, n=4)
    assert after["s"]["far_1"] == LOW
    assert after["other"] == before["other"]
    assert updated(before, [skipped("s", "not here")])["s"] == before["s"]


def test_a_baseline_is_read_as_it_was_written_and_an_absent_one_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    assert baseline.read(file) == {}
    baseline.write({"s": {"m": HIGH, "l": LOW}}, file)
    assert baseline.read(file) == {"s": {"m": HIGH, "l": LOW}}
    assert json.loads(file.read_text())["s"]["l"] == {"value": 0.1, "tolerance": 0.02, "direction": "lower", "n": 100}


def test_the_table_names_what_fell_what_is_missing_and_what_improved() -> None:
    console = Console(file=io.StringIO(), width=140)
    expected = {"s": {"fell": HIGH, "missing": HIGH, "better": HIGH, "held": HIGH}}
    values = {"fell": 0.5, "better": 0.95, "held": 0.9}
    show_compared(console, compare(expected, [measured(*(Metric(name=name, value=of, n=100) for name, of in values.items()))]))
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "s.fell" in said
    assert "0.9000" in said
    assert "0.5000" in said
    assert "s.missing" in said
    assert "s.better" in said
    assert "s.held" not in said
    assert "2 of 4 metrics hold" in said


def bench_of(models: Models) -> Bench:
    return Bench(tier=Tier.OFFLINE, models=models, open_ground=without_a_database, progress=Quiet(), limit=60)


def fallen(suite: str, worse: Models) -> set[str]:
    """Returns which metrics fall, by name, when a suite runs with worse models than its baseline was made with."""
    before = updated({}, [run_suite(bench_of(local()), suite)])
    assert not any(one.standing.fails for one in compare(before, [run_suite(bench_of(local()), suite)]))
    return {one.name for one in compare(before, [run_suite(bench_of(worse), suite)]) if one.standing is Standing.FELL}


def test_a_judge_that_calls_all_unrelated_turns_the_gate_red() -> None:
    lazy = replace(local(), judge=RuledJudge(lambda _new, _old: VerdictKind.UNRELATED))
    fell = fallen("classification", lazy)
    assert {"classification.test_accuracy", "classification.tune_recall_conflicts", "classification.tune_recall_same"} <= fell


def test_a_judge_that_calls_all_the_same_turns_the_gate_red() -> None:
    eager = replace(local(), judge=RuledJudge(lambda _new, _old: VerdictKind.SAME))
    assert "classification.test_false_same" in fallen("classification", eager)


def test_a_judge_that_is_away_turns_the_gate_red() -> None:
    fell = fallen("classification", replace(local(), judge=BrokenJudge()))
    assert {"classification.test_failed", "classification.test_unsure", "classification.test_accuracy"} <= fell


def test_a_screen_that_passes_everything_turns_the_gate_red() -> None:
    assert "redteam.test_caught" in fallen("redteam", replace(local(), screen=WordScreen(word="no such word")))


def test_a_screen_that_holds_everything_back_turns_the_gate_red() -> None:
    assert "redteam.test_false_alarms" in fallen("redteam", replace(local(), screen=WordScreen(word="")))


def test_a_screen_that_is_away_turns_the_gate_red() -> None:
    assert {"redteam.test_caught", "redteam.test_failed"} <= fallen("redteam", replace(local(), screen=WordScreen(fails=True)))
