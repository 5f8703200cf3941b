"""`tributary screen`: what the local screen makes of texts, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tributary.edges.cli.jsonl import Fields


def screen(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Read this instead of standard input.")] = None,
) -> None:
    """Screen texts for what would hijack a later reader. Needs no server, no database and no setting.

    Reads a JSON object a line: "id" and "text", and if you like "situation", "subject" and "rationale", which are screened too.
    Answers each at once with a line of its own: "id", "quarantined" and "reasons". A line that cannot be read gets an "error".

    \b
    Example: tributary screen lessons.jsonl > found.jsonl
    """
    from tributary.core.limits import RATIONALE_BYTES, SITUATION_BYTES, TEXT_BYTES
    from tributary.edges.cli.jsonl import answer_lines, subject_field, text_field
    from tributary.models.screens import LocalScreen

    local = LocalScreen()

    def answer(given: Fields) -> Mapping[str, object]:
        fields = {
            "text": text_field(given, "text", most_bytes=TEXT_BYTES),
            "situation": text_field(given, "situation", most_bytes=SITUATION_BYTES, needed=False),
            "subject": subject_field(given) or "",
            "rationale": text_field(given, "rationale", most_bytes=RATIONALE_BYTES, needed=False),
        }
        found = local.screen(fields)
        return {"quarantined": found.quarantined, "reasons": list(found.reasons)}

    answer_lines(file, answer, told=lambda said: "quarantined" if said["quarantined"] else "passed")
