"""Writes a run's figures into docs/benchmarks/peers.md, between two marks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers.bench import FILTERS, Run
from benchmarks.peers.figures import REFERENCE, TITLES, Line, lines, outcomes
from benchmarks.report import Surroundings, shown

BEGIN, END = "<!-- figures: make bench-peers -->", "<!-- end of figures -->"


def write(run: Run, surroundings: Surroundings, page: Path) -> None:
    """Puts the figures in place of those that stand between the marks; raises ValueError where the marks are missing."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for figures: {BEGIN} ... {END}")
    page.write_text(f"{before}{BEGIN}\n{figures(run, surroundings)}\n{END}{after}", encoding="utf-8")


def figures(run: Run, surroundings: Surroundings) -> str:
    """Returns the table in Markdown: a line a measure, a column a contender, ratios to plain SQL's figure in brackets."""
    head = f"| {run.lessons:,} lessons | " + " | ".join(TITLES[seen.name] for seen in run.seen) + " |"
    body = [
        f"| {line.name} | " + " | ".join(_cell(run, line, place) for place in range(len(run.seen))) + " |" for line in lines(run)
    ]
    scans = [
        f"| HNSW scans a search, filter: {name} | "
        + " | ".join(f"{seen.searched[name].through_hnsw:.2f}" for seen in run.seen)
        + " |"
        for name in FILTERS
    ]
    told = run.of("tributary")
    updates = "; ".join(
        f"by {by} only the newer side stays believed in {left.newer}, only the older in {left.older}, neither in {left.neither},"
        f" both in {left.both} ({left.marked} with a mark)"
        for by, left in told.updated.items()
    )
    versions = "; ".join(
        f"{TITLES[seen.name]}: " + ", ".join(f"{name} {value}" for name, value in seen.about.items()) for seen in run.seen
    )
    return "\n".join(
        [
            "",
            head,
            "|---" * (len(run.seen) + 1) + "|",
            *body,
            *scans,
            "",
            "Times as median / 95 of 100. In brackets the ratio to plain SQL.",
            "",
            f"What became of Tributary's adds: {outcomes(told)}. Of its updates: {updates}.",
            "",
            f"Embedding one text, which all would add to each add and search: {run.embedding_ms:.1f} ms.",
            "",
            f"Versions: {versions}.",
            "",
            f"{surroundings}",
            "",
        ]
    )


def _cell(run: Run, line: Line, place: int) -> str:
    seen, plain = run.seen[place], run.of(REFERENCE)
    value = line.value(seen)
    said = shown(value) if line.p95 is None else f"{shown(value)} / {shown(line.p95(seen))}"
    said = f"{said} {line.unit}".strip()
    return said if seen is plain or not line.value(plain) else f"{said} ({value / line.value(plain):.2f}x)"
