"""The time-travel demo's table and picture."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from evals.gauntlet.demos.base import show_claims, table_of
from evals.gauntlet.demos.time_travel_results import TimeTravelReport
from evals.gauntlet.pictures import MEMORY, WRONG, entitle, picture, save


def show(console: Console, report: TimeTravelReport) -> None:
    table = table_of(
        f"{report.query} Asked of each moment, later (seed {report.seed})",
        *("tick", "what happened", "recorded then", "as of the tick", "as of the time", "asked now", "receipt"),
        text=7,
    )
    for one in report.moments:
        right = one.as_of_tick == one.as_of_time == one.truth
        now = one.now if one.now == one.truth else f"[red]{one.now}[/red]"
        style = None if right else "bold red"
        table.add_row(str(one.tick), one.happened, one.truth, one.as_of_tick, one.as_of_time, now, one.verified, style=style)
    console.print(table)
    show_claims(console, report.claims)


def draw(report: TimeTravelReport, path: Path) -> None:
    """Draws a lane for each value: what was believed when, and both answers of later."""
    moments = report.moments
    values = list(dict.fromkeys(one.truth for one in moments))
    lanes = {value: at for at, value in enumerate(values)}
    figure, axes = picture(width=9.0, height=1.6 + 0.36 * len(values))
    spans = range(len(moments))
    for at, one in zip(spans, moments, strict=True):
        lane = lanes[one.truth]
        axes.barh(lane, 1, left=at - 0.5, height=0.55, color="#cfe5d8", zorder=1)
    axes.scatter(spans, [lanes.get(one.as_of_tick, -1) for one in moments], color=MEMORY, zorder=3, label="asked as of that tick")
    axes.scatter(
        spans, [lanes.get(one.now, -1) for one in moments], color=WRONG, marker="x", zorder=2, label="asked now, without as_of"
    )
    axes.set_yticks(range(len(values)), values)
    axes.set_xticks(spans, [str(one.tick) for one in moments])
    axes.set_xlabel("moment, as a tick of the tribe's clock")
    axes.set_ylabel("primary database")
    axes.set_xlim(-0.5, len(moments) - 0.5)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8.5)
    right = sum(one.as_of_tick == one.truth for one in moments)
    now = sum(one.now == one.truth for one in moments)
    entitle(
        axes,
        f"As-of answers are right for {right} of {len(moments)} past moments, the present answer for {now}",
        how=f"green bars: what was believed at each tick, by the script's own record (seed {report.seed})",
    )
    save(figure, path)
