"""One picture of a run: the metrics with their intervals, and the confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from evals.figures import Confusion, Measured, Metric
from tributary.core.evaluation import Better

MATRICES_A_ROW = 3
COLOURS = {Better.HIGHER: "#2a7f62", Better.LOWER: "#b5651d", Better.ZERO: "#4c6a92"}
SHADE = "Greens"


def draw(measured: Sequence[Measured], file: Path, *, title: str) -> None:
    """Writes the picture as PNG."""
    shares = [(one.suite, metric) for one in measured for metric in one.metrics if metric.lower is not None]
    confusions = [(one.suite, confusion) for one in measured for confusion in one.confusions]
    rows = math.ceil(len(confusions) / MATRICES_A_ROW)
    bars = max(2.0, 0.17 * len(shares))
    picture = Picture(figsize=(11, bars + 2.9 * rows), layout="constrained", dpi=110)
    grid = picture.add_gridspec(1 + rows, MATRICES_A_ROW, height_ratios=[bars, *([2.9] * rows)])
    _bars(picture.add_subplot(grid[0, :]), shares)
    for at, (suite, confusion) in enumerate(confusions):
        _matrix(picture.add_subplot(grid[1 + at // MATRICES_A_ROW, at % MATRICES_A_ROW]), suite, confusion)
    picture.suptitle(title, fontsize=10)
    picture.savefig(file, format="png", metadata={"Software": None})


def _bars(axes: Axes, shares: Sequence[tuple[str, Metric]]) -> None:
    values = [metric.value for _, metric in shares]
    below = [max(0.0, metric.value - (metric.lower or 0.0)) for _, metric in shares]
    above = [max(0.0, (metric.upper or 0.0) - metric.value) for _, metric in shares]
    colours = [COLOURS[metric.better] for _, metric in shares]
    axes.barh(range(len(shares)), values, xerr=(below, above), color=colours, height=0.6, error_kw={"lw": 0.7, "capsize": 1.5})
    axes.set_yticks(range(len(shares)), [f"{suite}: {metric.name}" for suite, metric in shares], fontsize=6)
    for label, metric in zip(axes.get_yticklabels(), (metric for _, metric in shares), strict=True):
        label.set_color(COLOURS[metric.better])
    axes.set_xlim(0, 1.05)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title("Shares, with their 95 % intervals (green: higher is better, brown: lower is)", fontsize=9, loc="left")


def _matrix(axes: Axes, suite: str, confusion: Confusion) -> None:
    """Shades each count by its share of its label; a row says what became of one label."""
    shares = [
        [confusion.counts.get((label, answer), 0) / max(1, confusion.of_label(label)) for answer in confusion.answers]
        for label in confusion.labels
    ]
    axes.imshow(shares, cmap=SHADE, vmin=0, vmax=1, aspect="auto")
    for row, label in enumerate(confusion.labels):
        for column, answer in enumerate(confusion.answers):
            colour = "white" if shares[row][column] > 0.6 else "black"
            count = str(confusion.counts.get((label, answer), 0))
            axes.text(column, row, count, ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(confusion.answers)), confusion.answers, fontsize=6, rotation=20)
    axes.set_yticks(range(len(confusion.labels)), confusion.labels, fontsize=6)
    axes.set_ylabel("label", fontsize=6)
    axes.set_title(f"{suite}: {confusion.title}", fontsize=7, loc="left")
