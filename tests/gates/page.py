"""docs/gates.md: the table of gates as people read it, which is also the record of when each was last seen failing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.gates.gate import ROOT, Gate, Group

PAGE = ROOT / "docs" / "gates.md"
BEGIN, END = "<!-- gates: written by make gates -->", "<!-- end of gates -->"
_RECORD = re.compile(
    r"^\| `(?P<name>[a-z0-9-]+)` \|.*\| (?P<day>\d{4}-\d\d-\d\d) at `(?P<commit>[0-9a-f+]+)` \| `(?P<proof>[0-9a-f]{12})` \|$"
)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """When a gate was last seen failing, at which commit, and the fingerprint that it had then."""

    day: str
    commit: str
    proof: str


def read_seen(page: Path = PAGE) -> dict[str, Seen]:
    """Returns the record, by gate."""
    found = (_RECORD.match(line) for line in page.read_text().splitlines())
    return {row["name"]: Seen(day=row["day"], commit=row["commit"], proof=row["proof"]) for row in found if row}


def write_page(groups: Iterable[Group], seen: Mapping[str, Seen], page: Path = PAGE) -> None:
    """Writes the tables between the page's two marks anew."""
    text = page.read_text()
    page.write_text(text[: text.index(BEGIN) + len(BEGIN)] + "\n\n" + tables(groups, seen) + "\n" + text[text.index(END) :])


def read_tables(page: Path = PAGE) -> str:
    """Returns what stands between the page's two marks."""
    text = page.read_text()
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip() + "\n"


def tables(groups: Iterable[Group], seen: Mapping[str, Seen]) -> str:
    parts = []
    for group in groups:
        parts += [f"## {group.title}", ""]
        parts += ["| gate | what it guards | taken out by | where it stands | the control that goes red | last seen | proof |"]
        parts += ["|---|---|---|---|---|---|---|"]
        parts += [_row(gate, seen.get(gate.name)) for gate in group.gates]
        parts += [""]
    return "\n".join(parts)


def _row(gate: Gate, seen: Seen | None) -> str:
    where = "<br>".join(dict.fromkeys(_where(cut.path, cut.place().name) for cut in gate.cuts))
    controls = "<br>".join(f"[{test.partition('::')[2]}](../{test.partition('::')[0]})" for test in gate.tests)
    last = f"{seen.day} at `{seen.commit}` | `{seen.proof}`" if seen else "never | none"
    return f"| `{gate.name}` | {gate.guards} | {gate.without} | {where} | {controls} | {last} |"


def _where(path: str, name: str) -> str:
    short = path.removeprefix("shared/tributary/").removeprefix("store/sql/migrations/0001_baseline/")
    return f"[{short}](../{path})" + (f" `{name}`" if name else "")
