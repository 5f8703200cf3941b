"""How the demos' pictures look: one style, and a title that says what was found."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEMORY, CONTROL, WRONG, QUIET = "#1f7a4d", "#8a8f98", "#b5402d", "#c9ccd1"
DOTS_PER_INCH = 110


def can_plot() -> bool:
    """Tells whether matplotlib is installed, without loading it."""
    return find_spec("matplotlib") is not None


def picture(*, width: float = 8.0, height: float = 4.0) -> tuple[Figure, Axes]:
    """Returns an empty picture, in inches, and its axes."""
    figure, (axes,) = pictures(1.0, width=width, height=height)
    return figure, axes


def pictures(*shares: float, width: float, height: float = 4.0) -> tuple[Figure, list[Axes]]:
    """Returns an empty picture with axes side by side, each as wide as its share."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (loaded by those who plot alone)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    drawn = figure.subplots(1, len(shares), width_ratios=shares, squeeze=False)
    made = list(drawn[0])
    for axes in made:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, made


def entitle(axes: Axes, finding: str, *, how: str) -> None:
    """Writes what was found over the axes, and under it, smaller, how."""
    axes.set_title(f"{finding}\n", loc="left", fontsize=11, fontweight="bold")
    axes.text(0.0, 1.02, how, transform=axes.transAxes, fontsize=8.5, color="#50555c", va="bottom")


def save(figure: Figure, path: Path) -> None:
    """Writes the picture in the format that the ending of `path` names, alike in every run."""
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None} if path.suffix == ".png" else None)
