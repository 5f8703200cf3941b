"""One picture of a run: how much of each target is used, how calls are spread, and what several writers reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from benchmarks.figures import Figure, Measured
from benchmarks.report import Surroundings

MET, MISSED, PLAIN = "#2a7f62", "#c0392b", "#4a6fa5"


def draw(measured: Sequence[Measured], surroundings: Surroundings, file: Path) -> None:
    """Writes the picture as PNG."""
    held = [figure for one in measured for figure in one.figures if figure.target is not None]
    spread = {name: values for one in measured for name, values in one.distributions.items()}
    series = {name: points for one in measured for name, points in one.series.items()}
    panels: list[tuple[float, Callable[[Axes], None]]] = []  # its height in inches, and what draws it
    if held:
        panels.append((0.9 + 0.36 * len(held), lambda axes: _targets(axes, held)))
    if spread:
        panels.append((0.9 + 0.42 * len(spread), lambda axes: _distributions(axes, spread)))
    if series:
        panels.append((2.8, lambda axes: _writers(axes, series)))
    heights = [height for height, _ in panels]
    picture = Picture(figsize=(9, sum(heights) + 0.6), layout="constrained", dpi=130)
    places = picture.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for (_, draw_on), axes in zip(panels, places, strict=True):
        draw_on(axes)
    load = f"load average {surroundings.load_before:.1f} to {surroundings.load_after:.1f}"
    picture.supxlabel(f"PostgreSQL {surroundings.postgres or '-'}, {load}", fontsize=7)
    picture.savefig(file, format="png")


def _targets(axes: Axes, figures: Sequence[Figure]) -> None:
    """Bars of how much of what each target allows was used; the line is the target."""
    shares = [min(figure.target.share(figure.judged), 5.0) for figure in figures if figure.target is not None]
    places = range(len(figures))
    axes.barh(places, shares, color=[MET if figure.met else MISSED for figure in figures], height=0.62)
    axes.axvline(1.0, color="black", linewidth=1)
    for place, (figure, share) in enumerate(zip(figures, shares, strict=True)):
        unit = "x" if figure.ratio is not None else f" {figure.unit}".rstrip()
        said = f"{figure.judged:.3g}{unit} (target {figure.target})"
        axes.text(max(share, 1.0) + 0.03, place, said, va="center", fontsize=7)
    axes.set_yticks(places, [figure.name for figure in figures], fontsize=7)
    axes.set_xlim(0, max([1.6, *shares]) * 1.45)
    axes.invert_yaxis()
    axes.set_xlabel("share of the target used; the line is the target", fontsize=7)
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
    axes.set_title("How long calls take", fontsize=9, loc="left")


def _writers(axes: Axes, series: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    """Groups of bars: lessons a second by number of writers, with and without durability."""
    width = 0.8 / len(series)
    for number, (name, points) in enumerate(series.items()):
        bars = axes.bar(
            [place + number * width for place in range(len(points))],
            [value for _, value in points],
            width=width * 0.92,
            label=name,
            color=PLAIN,
            alpha=1.0 - 0.5 * number / max(1, len(series) - 1),
        )
        axes.bar_label(bars, fmt="%.0f", fontsize=7)
        axes.set_xticks([place + 0.4 - width / 2 for place in range(len(points))], [label for label, _ in points], fontsize=7)
    axes.set_ylabel("lessons a second", fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.margins(y=0.15)
    axes.legend(fontsize=7, frameon=False)
    axes.set_title("Several writers at once", fontsize=9, loc="left")
