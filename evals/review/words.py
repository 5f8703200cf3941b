"""How cases and rows are shown: whole, and with nothing in them that a terminal would obey."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evals.review.golden import written_row
from evals.review.rows import Row, warnings
from tributary.client import Review, visible
from tributary.models.screens import LocalScreen

_SHORT = 70


def list_line(case: Review) -> str:
    """Returns a case on one line."""
    said = case.inputs.get("text") or "; ".join(_text(case.inputs.get(side)) for side in ("old", "new"))
    shown = visible(str(said))
    cut = shown if len(shown) <= _SHORT else shown[: _SHORT - 1] + "…"
    told = f"{visible(case.found)} -> {visible(case.expected)}"
    return f"{case.id}  {case.state:<8}  {case.suite:<6}  {case.signal:<10}  {told}  {cut}"


def show_lines(case: Review) -> list[str]:
    """Returns all that a reviewer should know of a case."""
    lines = [
        f"{case.id}  {case.state}",
        f"  suite      {case.suite}",
        f"  signal     {case.signal}, by {visible(case.by)} at tick {case.tick}",
        f"  said       {visible(case.found)}",
        f"  should be  {visible(case.expected)}",
        f"  note       {visible(case.note or '(none)')}",
        f"  decision   {visible(case.decision)}",
    ]
    if case.golden:
        lines.append(f"  golden     {visible(case.golden)}")
    if case.reason:
        lines.append(f"  reason     {visible(case.reason)}")
    for name, value in case.inputs.items():
        if isinstance(value, Mapping) and case.suite == "judge":
            lines.append(f"  {visible(name)}")
            lines += [f"    {visible(field):<10} {_shown(inner)}" for field, inner in value.items()]
        elif value:
            lines.append(f"  {visible(name):<10} {_shown(value)}")
    if case.suite == "screen":
        fields = {name: _shown(value) for name, value in case.inputs.items() if value}
        reasons = LocalScreen().screen(fields).reasons
        lines.append(f"  rules now  {', '.join(reasons) or 'catch nothing'}")
    return lines


def row_lines(row: Row) -> list[str]:
    """Returns a row as it goes into the repository, with what had better not."""
    lines = [f"This goes into evals/data/{row.file}, where everybody who has the repository reads it, and no erasure reaches it:"]
    lines += ["", visible(written_row(row.fields)), ""]
    return [*lines, *(f"WARNING: it seems to hold {what}." for what in warnings(row))]


def _text(side: object) -> str:
    return str(side.get("text")) if isinstance(side, Mapping) else ""


def _shown(value: object) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
