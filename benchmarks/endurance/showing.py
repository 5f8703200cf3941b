"""What a reader gets of a run: tables, a document, a picture, and the page's figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from rich import box
from rich.console import Group
from rich.table import Table

from benchmarks.endurance.crowd import Made
from benchmarks.endurance.judging import Ran

BEGIN, END = "<!-- figures: written by make load-docs -->", "<!-- end of figures -->"
COLOURS = {"p50": "#2a7f62", "p95": "#4a6fa5", "p99": "#c0392b"}
BUCKETS = 40
WIDTH = 150
"""Of a page's lines."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """All scenes, and what was wrong in each, by name, and between them."""

    ran: Sequence[Ran]
    wrong: Mapping[str, Sequence[str]]

    @property
    def passed(self) -> bool:
        return not any(self.wrong.values())


def tables(verdict: Verdict, about: str) -> Group:
    """Returns how long calls took by operation and scene, and what the server took of the machine."""
    calls = Table(box=box.SIMPLE_HEAD, title="Calls, milliseconds", title_justify="left", pad_edge=False)
    for name in ("scene", "operation"):
        calls.add_column(name, no_wrap=True)
    for name in ("calls", "a second", "p50", "p95", "p99", "longest"):
        calls.add_column(name, justify="right")
    for ran in verdict.ran:
        for row in _call_rows(ran):
            calls.add_row(*row)
    taken = Table(
        box=box.SIMPLE_HEAD, title="The server", title_justify="left", caption=about, caption_justify="left", pad_edge=False
    )
    for name in ("scene", "what"):
        taken.add_column(name, no_wrap=True)
    for name in ("first", "last", "most", "grown in the second half", "may grow by"):
        taken.add_column(name, justify="right")
    for ran in verdict.ran:
        for row in _server_rows(ran):
            taken.add_row(*row)
    return Group(calls, taken)


def markdown(verdict: Verdict, about: str) -> str:
    """Returns the same as it stands in the documentation."""
    lines = [textwrap.fill(about, WIDTH, break_long_words=False, break_on_hyphens=False), ""]
    lines += [
        "| setting | operation | calls | a second | p50 ms | p95 ms | p99 ms | longest ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(row)} |" for ran in verdict.ran for row in _call_rows(ran)]
    lines += [
        "",
        "| setting | of the server | first | last | most | grown in the second half | may grow by |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(row)} |" for ran in verdict.ran for row in _server_rows(ran)]
    said = [f"- {scene}: {one}" for scene, found in verdict.wrong.items() for one in found]
    return "\n".join([*lines, "", *(said or ["Nothing was wrong in it."])])


def document(verdict: Verdict, about: Mapping[str, object]) -> dict[str, object]:
    return {
        **about,
        "passed": verdict.passed,
        "wrong": {name: list(found) for name, found in verdict.wrong.items()},
        "scenes": [
            {
                "name": ran.scene.name,
                "about": ran.scene.about,
                "seconds": ran.seconds,
                "agents": ran.agents,
                "calls": len(ran.calls),
                "calls_per_s": len(ran.calls) / ran.seconds,
                "outcomes": dict(ran.outcomes),
                "refused": sum(one.refused for one in ran.calls),
                "milliseconds": {
                    name: dict(zip(("p50", "p95", "p99"), ran.percentiles(name), strict=True)) for name in ran.by_operation()
                },
                "trends": {
                    name: None
                    if one is None
                    else {"level": one.level, "growth": one.growth, "tolerance": one.tolerance, "leaks": one.leaks}
                    for name, one in ran.trends().items()
                },
                "server": {"at_s": [one.at_s for one in ran.samples], **{name: list(of) for name, of in ran.of_server.items()}},
            }
            for ran in verdict.ran
        ],
    }


def into_page(page: Path, figures: str) -> None:
    """Puts the figures where the page has its own, between two marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page}: has no place for figures, between {BEGIN} and {END}")
    page.write_text(f"{before}{begin}\n{figures}\n{end}{after}", encoding="utf-8")


def draw(verdict: Verdict, about: str, file: Path) -> None:
    """Writes a picture: for each scene recalls, learns, memory, and what else is counted, over time."""
    picture = Picture(figsize=(13, 2.9 * len(verdict.ran) + 0.5), layout="constrained", dpi=120)
    places = picture.subplots(len(verdict.ran), 4, squeeze=False)
    for row, ran in zip(places, verdict.ran, strict=True):
        _latencies(row[0], [one for one in ran.calls if one.operation == "recall"], ran.seconds)
        _latencies(row[1], [one for one in ran.calls if one.operation.startswith("learn")], ran.seconds)
        _server(row[2], ran, ("memory, MB",))
        _server(row[3], ran, ("threads", "open files", "database connections"))
        for axes, title in zip(row, ("recall, ms", "learns, ms", "memory, MB", "threads, files, connections"), strict=True):
            axes.set_title(f"{ran.scene.name}: {title}", fontsize=8, loc="left")
            axes.tick_params(labelsize=6)
            axes.grid(linewidth=0.3)
            axes.set_xlabel("seconds", fontsize=6)
    picture.supxlabel(textwrap.fill(about, 200), fontsize=7)
    picture.savefig(file, format="png")


def _latencies(axes: Axes, calls: Sequence[Made], seconds: float) -> None:
    width = seconds / BUCKETS
    buckets = [[one.ms for one in calls if int(one.at_s / width) == place] for place in range(BUCKETS)]
    filled = [(place * width, of) for place, of in enumerate(buckets) if of]
    for name, colour in COLOURS.items():
        axes.plot(
            [at for at, _ in filled],
            [float(np.percentile(of, int(name[1:]))) for _, of in filled],
            color=colour,
            label=name,
            linewidth=1,
        )
    axes.set_yscale("log")
    axes.legend(fontsize=6, frameon=False)


def _server(axes: Axes, ran: Ran, names: Sequence[str]) -> None:
    for name, colour in zip(names, COLOURS.values(), strict=False):
        axes.plot([one.at_s for one in ran.samples], ran.of_server[name], label=name, color=colour, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.axvline(ran.seconds / 2, color="black", linewidth=0.4, linestyle=":")
    if len(names) > 1:
        axes.legend(fontsize=6, frameon=False)


def _call_rows(ran: Ran) -> Iterator[tuple[str, ...]]:
    for name, took in ran.by_operation().items():
        figures = (*ran.percentiles(name), max(took))
        yield (ran.scene.name, name, f"{len(took):,}", f"{len(took) / ran.seconds:.1f}", *(f"{one:,.0f}" for one in figures))
    yield (ran.scene.name, "all", f"{len(ran.calls):,}", f"{len(ran.calls) / ran.seconds:.1f}", "", "", "", "")


def _server_rows(ran: Ran) -> Iterator[tuple[str, ...]]:
    trends = ran.trends()
    for name, series in ran.of_server.items():
        trend = trends[name]
        grown = ("?", "?") if trend is None else (f"{trend.growth:+.1f}", f"{trend.tolerance:.1f}")
        ends = (f"{series[0]:,.0f}", f"{series[-1]:,.0f}", f"{max(series):,.0f}") if series else ("?", "?", "?")
        yield (ran.scene.name, name, *ends, *grown)
