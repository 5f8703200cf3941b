"""Pictures of a run: how much of each target is used, how calls are spread, and a chart for each thing that grows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.figures import Chart, Curve, Figure
from benchmarks.report import Report, shown

MET, MISSED = "#2a7f62", "#c0392b"
COLOURS = ("#1f5fa8", "#c0561a", "#2a7f62", "#7b4aa0", "#8a6d00", "#555555")
PREFIX = "bench-"
ACROSS = 2
"""Charts beside one another."""


def draw(report: Report, folder: Path) -> list[Path]:
    """Writes the run's pictures as PNG, those of an earlier run of these benches over, and returns where they are."""
    files = []
    for name, picture in _pictures(report):
        surroundings = report.surroundings
        load = f"load average {surroundings.load_before:.1f} to {surroundings.load_after:.1f}"
        picture.supxlabel(f"{surroundings.at[:10]}, PostgreSQL {surroundings.postgres or '-'}, {load}", fontsize=7)
        files.append(folder / f"{PREFIX}{name}.png")
        picture.savefig(files[-1], format="png")
    return files


def _pictures(report: Report) -> Iterator[tuple[str, Picture]]:
    """Yields pictures by name: the targets of all, what each bench's calls took, and its charts."""
    held = [figure for figure in report.figures if figure.target is not None]
    if held:
        picture = _sheet(1.0 + 0.26 * len(held))
        _targets(picture.subplots(), held)
        yield "targets", picture
    spread = {name: values for one in report.ran if one.measured for name, values in one.measured.distributions.items()}
    if spread:
        picture = _sheet(1.0 + 0.34 * len(spread))
        _distributions(picture.subplots(), spread)
        yield "calls", picture
    for one in report.ran:
        charts = _charts(one.measured.curves if one.measured else ())
        if charts:
            rows = -(-len(charts) // ACROSS)
            picture = _sheet(3.4 * rows)
            places = picture.subplots(rows, ACROSS, squeeze=False).flat
            for axes, (chart, curves) in zip(places, charts.items(), strict=False):
                _chart(axes, chart, curves)
            for axes in list(places)[len(charts) :]:
                axes.remove()
            yield re.sub(r"\W+", "-", one.name), picture


def _sheet(height: float) -> Picture:
    return Picture(figsize=(10, height), layout="constrained", dpi=120)


def _charts(curves: Sequence[Curve]) -> dict[Chart, list[Curve]]:
    charts: dict[Chart, list[Curve]] = {}
    for curve in curves:
        charts.setdefault(curve.chart, []).append(curve)
    return charts


def _targets(axes: Axes, figures: Sequence[Figure]) -> None:
    """Bars of how much of what each target allows was used; the line is the target."""
    most = 3.0
    shares = [min(figure.target.share(figure.judged), most) for figure in figures if figure.target is not None]
    axes.barh(range(len(figures)), shares, color=[MET if figure.met else MISSED for figure in figures], height=0.62)
    axes.axvline(1.0, color="black", linewidth=1)
    for place, (figure, share) in enumerate(zip(figures, shares, strict=True)):
        unit = "x" if figure.ratio is not None else f" {figure.unit}".rstrip()
        axes.text(max(share, 1.0) + 0.03, place, f"{figure.judged:.3g}{unit} (target {figure.target})", va="center", fontsize=7)
    axes.set_yticks(range(len(figures)), [figure.name for figure in figures], fontsize=7)
    axes.set_xlim(0, max([1.2, *shares]) + 1.0)
    axes.set_ylim(len(figures) - 0.4, -0.6)
    axes.set_xlabel(f"share of the target used, up to {most:g}; the line is the target", fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_title("Targets", fontsize=9, loc="left")


def _distributions(axes: Axes, spread: Mapping[str, Sequence[float]]) -> None:
    """Boxes over the milliseconds of each kind of call, on a logarithmic axis; whiskers at 5 and 95 of 100."""
    names = list(spread)
    axes.boxplot([list(spread[name]) for name in names], orientation="horizontal", whis=(5, 95), showfliers=False, widths=0.6)
    axes.set_yticks(range(1, len(names) + 1), names, fontsize=7)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.grid(axis="x", which="both", linewidth=0.3)
    axes.set_xlabel("milliseconds", fontsize=7)
    axes.tick_params(axis="x", which="both", labelsize=7)
    axes.set_title("How long calls take: half of them in the box, 5 to 95 of 100 in the whiskers", fontsize=9, loc="left")


def _chart(axes: Axes, chart: Chart, curves: Sequence[Curve]) -> None:
    """Lines over logarithmic axes, each measured place marked and named once on the axis below."""
    for curve, colour in zip(curves, COLOURS, strict=False):
        across, up = zip(*curve.points, strict=True)
        style = "--" if curve.dashed else "-"
        axes.plot(across, up, style, color=colour, marker="o", markersize=3.5, linewidth=1.4, label=curve.name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    places = sorted({across for curve in curves for across, _ in curve.points})
    axes.set_xticks(places, [shown(place) for place in places], fontsize=7)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
    heights = [up for curve in curves for _, up in curve.points]
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: shown(value) if f"{value:e}"[0] in "25" else ""))
    axes.set_ylim(min(heights) / 1.5, max(heights) * (1.5 + 0.5 * len(curves)))  # room for the legend
    axes.grid(which="major", linewidth=0.3)
    axes.set_xlabel(chart.across, fontsize=7)
    axes.set_ylabel(chart.up, fontsize=7)
    axes.tick_params(axis="y", which="both", labelsize=7)
    axes.legend(fontsize=6.5, frameon=False, loc="upper left", ncols=2 if len(curves) > 3 else 1)
    axes.set_title(chart.title, fontsize=8, loc="left")
