"""`tributary seed`: what a new tribe can be shown by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson, Cell, Tribe
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.service.seeding import Seeded

app = typer.Typer(
    help="Teach a tribe what it can be shown by. For operators.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Teach a tribe what it can be shown by. For operators."""


@app.command("demo")
def demo(context: typer.Context, tribe: Tribe = "default", cell: Cell = None, as_json: AsJson = False) -> None:
    """Teach a tribe one incident, once: symptoms, what did not help, cause, fix, and an open dispute.

    The second time is refused. Every gate of the memory has its say, so the models that are set up judge and screen it.

    \b
    Example: tributary seed demo
    """
    doors, output = session(context, as_json=as_json)
    told = doors.seed_demo(doors.load_settings(False).in_cell(cell), tribe)
    lines = [f"{one.learned.outcome.value}: {shown(one.told.draft.text)}" for one in told]
    question = next((one.learned.dispute_id for one in told if one.learned.dispute_id is not None), None)
    lines.append(f"The tribe '{shown(tribe)}' knows the incident. Try: tributary recall \"checkout answers 503\"")
    if question is not None:
        lines.append("A dispute waits for a curator: tributary curate disputes")
    output.result({"tribe": tribe, "lessons": [_document(one) for one in told]}, lines)


def _document(one: Seeded) -> dict[str, object]:
    from tributary.core.ids import Prefix, show

    lesson, dispute = one.learned.lesson, one.learned.dispute_id
    return {
        "text": one.told.draft.text,
        "outcome": one.learned.outcome.value,
        "id": None if lesson is None else show(Prefix.LESSON, lesson.lesson_id),
        "dispute": None if dispute is None else show(Prefix.DISPUTE, dispute),
    }
