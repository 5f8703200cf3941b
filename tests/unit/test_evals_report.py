"""The committed report says what the baseline says: no figure in it was typed by hand, or is left from another run."""

from __future__ import annotations

import re
from pathlib import Path

from evals import baseline
from evals.report import METRIC_HEADS, written
from evals.suites import SUITES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "evals" / "offline.md"


def reported(text: str) -> dict[str, dict[str, tuple[str, str, str]]]:
    """Returns value, n and direction of each metric of a page, by suite."""
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    for section in text.split("\n## ")[1:]:
        suite = section.partition("\n")[0].strip()
        _, _, table = section.partition(f"| {' | '.join(METRIC_HEADS)} |\n")
        rows = re.findall(r"^\| `(\w+[\w@]*)` \| (-?[\d.]+) \| [^|]*\| (\d+) \| ([\w ]+) \|$", table, re.MULTILINE)
        found[suite] = {name: (value, n, better) for name, value, n, better in rows}
    return found


def test_every_figure_of_the_report_is_that_of_the_baseline_and_none_is_missing() -> None:
    page = reported(PAGE.read_text(encoding="utf-8"))
    expected = {
        suite: {name: (written(one.value), str(one.n), one.direction.value) for name, one in metrics.items()}
        for suite, metrics in baseline.read().items()
    }
    assert {suite: metrics for suite, metrics in page.items() if metrics} == expected
    assert set(page) == set(SUITES) - {"tiering"}


def test_the_report_names_its_command_its_commit_and_pictures_that_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"^python -m evals\.run --tier offline .*--report docs/evals$", text, re.MULTILINE)
    assert re.search(r"^Of commit `[0-9a-f]{12}`", text, re.MULTILINE), "written with files that differed from their commit"
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert len(pictures) >= 2
    assert all((PAGE.parent / name).read_bytes().startswith(b"\x89PNG") for name in pictures)


def test_the_baseline_of_the_project_watches_every_suite_of_the_offline_tier() -> None:
    watched = baseline.read()
    assert set(watched) == set(SUITES) - {"tiering"}
    assert all(one.n > 0 for metrics in watched.values() for one in metrics.values())
    assert all(0 <= one.tolerance <= 0.05 for metrics in watched.values() for one in metrics.values())


def test_every_suite_is_described_and_no_path_of_a_machine_is_named() -> None:
    text = (DOCS / "evals.md").read_text(encoding="utf-8")
    assert {name for name in SUITES if f"| `{name}` |" in text} == set(SUITES)
    for page in (text, PAGE.read_text(encoding="utf-8")):
        assert not re.search(r"/(?:root|tmp|home|work|Users)/", page)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCS / target).exists(), target


def test_a_figure_that_was_changed_by_hand_is_noticed() -> None:
    """Control: the page is really read."""
    text = PAGE.read_text(encoding="utf-8")
    name, one = next(iter(baseline.read()["classification"].items()))
    changed = text.replace(f"| `{name}` | {written(one.value)} |", f"| `{name}` | 0.9999 |")
    assert reported(changed) != reported(text)
