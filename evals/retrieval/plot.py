"""One picture of a run: recall and mean reciprocal rank by search, and how often nothing was shown."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from evals.retrieval.measures import FIRST
from evals.retrieval.report import KINDS
from evals.retrieval.suite import HYBRID, Report
from tributary.core.ranking import VERSION

BEST, OTHER, PLAIN = "#2a7f62", "#a9b8cc", "#4a6fa5"


def draw(report: Report, file: Path) -> None:
    """Writes the picture of the test split as PNG."""
    picture = Picture(figsize=(9, 5), layout="constrained", dpi=130)
    recall, mrr, empty = picture.subplot_mosaic([["recall", "mrr"], ["empty", "empty"]], height_ratios=[3, 2]).values()
    names = list(report.compared.places)
    found = [report.compared.of(name, "test") for name in names]
    _bars(recall, names, [one.recall for one in found], f"recall@{FIRST}")
    _bars(mrr, names, [one.mrr for one in found], "mean reciprocal rank")
    mrr.set_yticklabels([])
    _emptiness(empty, report)
    picture.supxlabel(
        f"{found[0].questions} questions of the test split on {report.sections} sections; ranking {VERSION}", fontsize=7
    )
    picture.savefig(file, format="png")


def _bars(axes: Axes, names: list[str], values: list[float], title: str) -> None:
    drawn = axes.barh(range(len(names)), values, color=[BEST if name == HYBRID else OTHER for name in names], height=0.62)
    axes.bar_label(drawn, fmt="%.3f", fontsize=7, padding=2)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xlim(0, 1)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title(title, fontsize=9, loc="left")


def _emptiness(axes: Axes, report: Report) -> None:
    of = {one.kind: one for one in report.emptiness if one.split == "test"}
    kinds = [kind for kind in KINDS if kind in of]
    drawn = axes.barh(range(len(kinds)), [of[kind].share for kind in kinds], color=PLAIN, height=0.55)
    axes.bar_label(drawn, [f"{of[kind].empty} of {of[kind].questions}" for kind in kinds], fontsize=7, padding=2)
    axes.set_yticks(range(len(kinds)), [KINDS[kind] for kind in kinds], fontsize=7)
    axes.set_xlim(0, 1.1)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title(f"Share of questions that came back empty (floor {report.floor:.2f})", fontsize=9, loc="left")
