"""Draws a run: a panel a kind of measure, a colour a contender."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from benchmarks.figures import Samples
from benchmarks.peers.bench import FILTERS, LIMIT, UPDATES, WRITERS, Run, Seen
from benchmarks.peers.figures import BY, TITLES
from benchmarks.report import Surroundings, shown

COLOURS = {"sql": "#9aa3ad", "tributary": "#2a7f62", "mem0": "#4a6fa5", "langgraph": "#c58b2a"}
Values = Mapping[str, Callable[[Seen], float]]
"""The groups of a panel, by their label."""


def draw(run: Run, surroundings: Surroundings, file: Path) -> None:
    """Writes the picture as PNG."""
    picture = Picture(figsize=(11, 6.4), layout="constrained", dpi=130)
    panels = picture.subplots(2, 3).flat
    _bars(
        next(panels),
        run,
        "adds a second",
        {"1 writer": lambda seen: max(seen.alone), f"{WRITERS} writers": lambda seen: max(seen.together)},
        logarithmic=True,
    )
    _bars(next(panels), run, "search, ms: bars to the median, lines to 95 of 100", _by_filter(_median), up_to=_by_filter(_p95))
    _bars(next(panels), run, f"searches a second, {WRITERS} readers", {"": lambda seen: max(seen.reads)})
    _bars(
        next(panels), run, f"recall@{LIMIT}: of the nearest, by numpy", _by_filter(lambda name, seen: seen.searched[name].found)
    )
    _bars(
        next(panels),
        run,
        f"rows left of {WRITERS} equal adds at once",
        {"": lambda seen: sum(seen.rows_of_equal) / len(seen.rows_of_equal)},
    )
    _bars(
        next(panels),
        run,
        f"both sides believed of {UPDATES} contradicting updates",
        {f"by {by}": partial(_both, by) for by in BY},
    )
    handles, labels = picture.axes[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8, frameon=False)
    load = f"load average {surroundings.load_before:.1f} to {surroundings.load_after:.1f}"
    picture.supxlabel(
        f"{run.lessons:,} lessons, PostgreSQL {run.postgres}, pgvector {run.pgvector}, fsync on, {load}", fontsize=7
    )
    picture.savefig(file, format="png")


def _by_filter(value: Callable[[str, Seen], float]) -> Values:
    return {f"filter: {name}": partial(value, name) for name in FILTERS}


def _median(name: str, seen: Seen) -> float:
    return Samples(values=seen.searched[name].ms).median


def _p95(name: str, seen: Seen) -> float:
    return Samples(values=seen.searched[name].ms).p95


def _both(by: str, seen: Seen) -> float:
    return seen.updated[by].both


def _bars(axes: Axes, run: Run, title: str, groups: Values, *, up_to: Values | None = None, logarithmic: bool = False) -> None:
    """Draws a group of bars for each label, a bar for each contender; `up_to` gives the ends of lines above them."""
    width = 0.8 / len(run.seen)
    for number, seen in enumerate(run.seen):
        places = [place + (number - (len(run.seen) - 1) / 2) * width for place in range(len(groups))]
        heights = [value(seen) for value in groups.values()]
        axes.bar(places, heights, width=width * 0.92, label=TITLES[seen.name], color=COLOURS[seen.name])
        ends = heights if up_to is None else [value(seen) for value in up_to.values()]
        said = [shown(height) for height in heights]
        if up_to is not None:
            axes.vlines(places, heights, ends, color=COLOURS[seen.name], linewidth=1.5)
            said = [f"p95 {shown(end)}\np50 {height}" for end, height in zip(ends, said, strict=True)]
        _label(axes, places, ends, said)
    axes.set_xticks(range(len(groups)), list(groups), fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.margins(y=0.18)
    if logarithmic:
        axes.set_yscale("log")
    axes.set_title(title, fontsize=9, loc="left")


def _label(axes: Axes, places: Sequence[float], heights: Sequence[float], said: Sequence[str]) -> None:
    for place, height, text in zip(places, heights, said, strict=True):
        axes.annotate(text, (place, height), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=5.5)
