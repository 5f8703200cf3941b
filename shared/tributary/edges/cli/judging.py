"""`tributary judge`: what the local judge makes of pairs of lessons, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tributary.core.ports import JudgedText
    from tributary.edges.cli.jsonl import Fields


def judge(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Read this instead of standard input.")] = None,
) -> None:
    """Judge pairs of lessons: same, conflicts, unrelated or unsure. Needs no server, no database and no setting.

    Reads a JSON object a line: "id", "old" and "new", the last two with "text", and if you like "situation" and "subject".
    Answers each at once with a line of its own: "id", "verdict" and "confidence". A line that cannot be read gets an "error".

    \b
    Example: tributary judge pairs.jsonl > verdicts.jsonl
    """
    from tributary.edges.cli.jsonl import answer_lines
    from tributary.models.judges import LocalJudge

    local = LocalJudge()

    def answer(given: Fields) -> Mapping[str, object]:
        old, new = _side(given, "old"), _side(given, "new")
        (verdict,) = local.judge(new, [old], timeout_s=None)
        return {"verdict": verdict.kind.value, "confidence": round(verdict.confidence, 3)}

    answer_lines(file, answer, told=lambda said: str(said["verdict"]))


def _side(given: Fields, name: str) -> JudgedText:
    from uuid import UUID

    from tributary.core.errors import InvalidRequest
    from tributary.core.limits import SITUATION_BYTES, TEXT_BYTES
    from tributary.core.ports import JudgedText
    from tributary.edges.cli.jsonl import Fields, subject_field, text_field

    side = given.get(name)
    if not isinstance(side, Fields):
        raise InvalidRequest(name, "is missing" if name not in given else "must be a JSON object")
    return JudgedText(
        lesson_id=UUID(int=name == "new"),
        text=text_field(side, "text", most_bytes=TEXT_BYTES, within=name),
        situation=text_field(side, "situation", most_bytes=SITUATION_BYTES, within=name, needed=False),
        subject=subject_field(side, within=name),
    )
