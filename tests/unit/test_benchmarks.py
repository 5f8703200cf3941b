"""The benches' own logic: what a ratio and a target say, what is run, that a failure is told, and what is written."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.__main__ import chosen
from benchmarks.benches import BENCHES
from benchmarks.crowd import slice_of
from benchmarks.figures import Chart, Curve, Figure, Measured, Target
from benchmarks.page import PAGE, benches_table, between
from benchmarks.plot import draw
from benchmarks.progress import Progress
from benchmarks.report import Report, Surroundings, markdown, table
from benchmarks.running import Bench, Ran, run_all
from benchmarks.stage import Stage

TWICE = Figure(name="twice", value=6.0, unit="ms", p95=9.0, reference=3.0, beside="half", target=Target(bound=1.5))
CHART = Chart(title="growth", across="lessons", up="milliseconds")
MEASURED = Measured(
    figures=(TWICE, Figure(name="alone", value=7.0, target=Target(bound=7, at_least=True), details={"n": 3})),
    distributions={"calls": [1.0, 2.0, 3.0]},
    curves=(
        Curve(chart=CHART, name="ours", points=[(1, 2), (10, 3)]),
        Curve(chart=CHART, name="sql", points=[(1, 1)], dashed=True),
    ),
)


def bench(name: str, *, full: bool = False, fails: bool = False, shares: str = "") -> Bench:
    def measure(_: Stage) -> Measured:
        if fails:
            raise ValueError(f"{name} found | nothing")
        return MEASURED

    return Bench(name=name, tells=f"what {name} tells", minutes=1, full=full, shares=shares, measure=measure)


def report_of(*benches: Bench) -> Report:
    with Stage(Progress(), lessons=0, most=0) as stage:
        ran = tuple(run_all(benches, stage))
    return Report(surroundings=Surroundings.here("python -m benchmarks"), ran=ran)


def printed(report: Report) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(table(report))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_figure_with_a_reference_is_held_to_its_ratio_and_one_without_to_its_value() -> None:
    twice, alone = MEASURED.figures
    assert (twice.ratio, twice.judged, twice.met) == (2.0, 2.0, False)
    assert (alone.ratio, alone.judged, alone.met) == (None, 7.0, True)


def test_a_share_of_a_target_is_more_than_one_where_it_is_missed() -> None:
    assert Target(bound=2.0).share(3.0) == 1.5
    assert Target(bound=2.0, at_least=True).share(1.0) == 2.0
    assert Target(bound=0).share(0) == 1.0 < Target(bound=0).share(1)


def test_a_bench_that_fails_is_told_and_the_others_are_run(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(bench("first"), bench("broken", fails=True), bench("last"))
    assert [(one.name, one.measured is not None) for one in report.ran] == [("first", True), ("broken", False), ("last", True)]
    assert [one.name for one in report.failed] == ["broken"]
    for said in (printed(report), markdown(report)):
        assert "FAILED" in said
        assert "ValueError: broken found" in said
    assert "raise ValueError" in capsys.readouterr().err  # where it failed is said, too


def test_a_run_in_which_all_is_measured_says_of_nothing_that_it_failed() -> None:
    report = report_of(bench("first"))
    assert not report.failed
    assert "FAILED" not in printed(report) + markdown(report)


def test_what_a_failed_bench_says_cannot_break_a_row_of_markdown() -> None:
    rows = [line for line in markdown(report_of(bench("broken", fails=True))).splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows}) == 1


def test_a_run_is_told_again_from_its_document_as_it_was() -> None:
    report = report_of(bench("first"), bench("broken", fails=True))
    again = Report.of(json.loads(json.dumps(report.document())))
    assert again.document() == report.document()
    assert markdown(again) == markdown(report)


def test_a_run_without_names_leaves_out_what_is_for_a_full_one() -> None:
    benches = [bench("quick"), bench("long", full=True)]
    assert [one.name for one in chosen(benches, only=None, full=False)] == ["quick"]
    assert [one.name for one in chosen(benches, only=None, full=True)] == ["quick", "long"]
    assert [one.name for one in chosen(benches, only=["long"], full=False)] == ["long"]


def test_benches_have_names_of_their_own_and_neighbours_share_a_database() -> None:
    names = [one.name for one in BENCHES]
    assert len(set(names)) == len(names)
    shared = [one.shares for one in BENCHES]
    begun = [now for before, now in zip(["", *shared], shared, strict=False) if now and now != before]
    assert len(set(begun)) == len(begun)


def test_pictures_are_drawn_of_targets_calls_and_each_benchs_curves(tmp_path: Path) -> None:
    files = draw(report_of(bench("growth"), bench("broken", fails=True)), tmp_path)
    assert [file.name for file in files] == ["bench-targets.png", "bench-calls.png", "bench-growth.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_a_table_is_written_between_its_marks_and_nowhere_else() -> None:
    page = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n"
    new = between(page, "figures", r"new \1")
    assert new == "before\n<!-- figures -->\nnew \\1\n<!-- end of figures -->\nafter\n"
    assert between(new, "figures", "old") == page
    with pytest.raises(ValueError, match="one pair of marks"):
        between("before\nafter\n", "figures", "new")


def test_the_page_lists_the_benches_that_there_are() -> None:
    said = PAGE.read_text(encoding="utf-8")
    assert between(said, "benches", benches_table(BENCHES)) == said, (
        "python -m benchmarks --from build/bench/bench.json --write-docs"
    )


def test_a_slice_counts_what_all_did_and_raises_what_one_of_them_raised() -> None:
    begun: list[int] = []
    slice_ = slice_of([lambda: None, lambda: None], 0.01, begin=lambda: begun.append(1))
    assert begun == [1]
    assert slice_.rate == len(slice_.ms.values) / slice_.seconds
    calls = iter(range(3))
    with pytest.raises(StopIteration):
        slice_of([lambda: next(calls), threading.Event().is_set], 60)


def test_a_slice_raises_what_failed_before_anyone_began_rather_than_that_the_others_waited() -> None:
    def fail() -> None:
        raise KeyError("first")

    with pytest.raises(KeyError, match="first"):
        slice_of([lambda: None, fail, lambda: None], 60)


def test_a_slice_in_which_nobody_was_done_goes_on_until_somebody_is() -> None:
    calls, slow = iter([True, False]), threading.Event()

    def act() -> None:
        if not next(calls, False):
            slow.wait(0.2)

    assert len(slice_of([act], 0.01).ms.values) >= 1


def test_ran_keeps_what_a_bench_took() -> None:
    assert Ran.of({"name": "x", "seconds": 1.5, "measured": None, "error": "why"}) == Ran(name="x", seconds=1.5, error="why")
