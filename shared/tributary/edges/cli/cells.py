"""Commands that act on every cell: one that fails keeps the others from nothing, and the exit code tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import typer

from tributary.edges.cli.failures import Failure, foreseen, tell

if TYPE_CHECKING:
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.faces import OperatorFace
    from tributary.service import Settings

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[Found]):
    """What one cell said, or why it said nothing; `cell` is None for the own one without a name."""

    cell: str | None
    found: Found | None = None
    failure: Failure | None = None


def each_cell(doors: Doors, settings: Settings, ask: Callable[[OperatorFace], Found]) -> list[Answer[Found]]:
    """Asks the operator's side of every cell, the own one first; raises only what nobody foresaw."""
    return [_answer(doors, settings, cell, ask) for cell in settings.cell_names]


def end_by(answers: list[Answer[Found]], *, as_json: bool) -> None:
    """Tells of the cells that failed, and ends the command with the exit code of the first."""
    from tributary.core.cells import shown_cell

    failed = [(one.cell, one.failure) for one in answers if one.failure is not None]
    for cell, failure in failed:
        where = f"cell '{shown_cell(cell)}': "
        tell(Failure(exit=failure.exit, code=failure.code, detail=where + failure.detail), as_json=as_json)
    if failed:
        raise typer.Exit(failed[0][1].exit)


def _answer(doors: Doors, settings: Settings, cell: str | None, ask: Callable[[OperatorFace], Found]) -> Answer[Found]:
    try:
        with doors.open_operator(settings.in_cell(cell)) as operator:
            return Answer(cell=cell, found=ask(operator))
    except Exception as error:
        failure = foreseen(error)
        if failure is None:
            raise
        return Answer(cell=cell, failure=failure)
