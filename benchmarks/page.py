"""The page docs/benchmarks.md: its tables of benches and of figures are written between marks, the rest by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.benches import BENCHES
from benchmarks.report import Report, markdown
from benchmarks.running import Bench

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images"


def write_page(report: Report, pictures: Sequence[Path], page: Path = PAGE) -> None:
    """Writes both tables anew, in place, and shows the pictures under that of the figures."""
    shown = "".join(f"\n\n![{picture.stem}]({IMAGES.name}/{picture.name})" for picture in pictures)
    said = page.read_text(encoding="utf-8")
    said = between(said, "benches", benches_table(BENCHES))
    page.write_text(between(said, "figures", markdown(report) + shown), encoding="utf-8")


def between(page: str, mark: str, said: str) -> str:
    """Returns the page with `said` between the marks of that name; raises ValueError unless they are there once."""
    marks = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end of {mark} -->)", re.DOTALL)
    if len(marks.findall(page)) != 1:
        raise ValueError(f"the page must have one pair of marks '<!-- {mark} -->' and '<!-- end of {mark} -->'")
    return marks.sub(lambda found: f"{found[1]}{said}\n{found[2]}", page)


def benches_table(benches: Sequence[Bench]) -> str:
    """Returns the table of benches in Markdown: what each tells, needs and takes, and the target that it is in."""
    lines = ["| bench | tells | minutes | in |", "|---|---|--:|---|"]
    for bench in benches:
        needs = f"; needs {bench.needs}" if bench.needs else ""
        target = "`make bench-full`" if bench.full else "`make bench`"
        lines.append(f"| `{bench.name}` | {bench.tells}{needs} | {bench.minutes:g} | {target} |")
    return "\n".join(lines)
