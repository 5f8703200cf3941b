"""`tributary verify` and `rotate-signing-key`: whether a receipt says what the tribe believed, and what it is signed with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.exits import DISAGREES
from tributary.edges.cli.options import AsJson, Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tributary.client import Verified

_CAUSES = {
    "space_retired": "the embedding space that it was searched in does not serve any more",
    "embedder_failed": "the query could not be embedded now",
    "other_weights": "the embedder here holds the model in another precision, and the figures differ no more than that explains",
    "ranking_changed": "hits are ranked by another formula now",
    "lesson_erased": "a lesson was erased since, and with it what it said",
    "listing": "it is of a listing, which answers no query",
    "time_budget": "there was no time to compare every lesson again",
}
_ASPECTS = {
    "signature": "it is not as it was signed",
    "query": "it answers another query",
    "belief": "the tribe did not believe this lesson then",
    "filter": "its filters do not let this lesson in",
    "rule": "a rule leaves this lesson out",
    "similarity": "the similarity is another one",
    "score": "the score is another one",
    "order": "it stands behind a lesson with a lower score",
    "missed": "this lesson belongs among the hits, and the search called itself complete",
}


def verify(
    context: typer.Context,
    receipt: Annotated[
        str,
        typer.Argument(
            metavar="RECEIPT",
            help="A file that holds it as JSON, or all that `recall --json` printed; '-' reads it from standard input.",
        ),
    ],
    query: Annotated[str, typer.Option(metavar="QUERY", help="The query that it answered.")],
    as_json: AsJson = False,
) -> None:
    """Check a receipt against what the tribe believed at its tick.

    Ends with exit code 9 unless it agrees.

    \b
    Example: tributary recall "deploy payments" --json > found.json && tributary verify found.json --query "deploy payments"
    """
    doors, output = session(context, as_json=as_json)
    document = _document(receipt)
    with doors.open_client() as memory:
        reply = memory.verify(document, query=query)
    output.result(reply.model_dump(mode="json"), list(_lines(reply)))
    if reply.verdict != "agrees":
        raise typer.Exit(DISAGREES)


def rotate_signing_key(context: typer.Context, cell: Cell = None, as_json: AsJson = False) -> None:
    """Have receipts signed with a new key from now on. Those that were signed before can still be verified.

    Running servers take it within a minute.

    \b
    Example: tributary rotate-signing-key
    """
    from tributary.edges.cli.words import shown

    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        key = operator.rotate_signing_key()
    output.result({"key": key}, [f"Receipts are signed with the key {shown(key)} from now on."])


def _lines(reply: Verified) -> Iterator[str]:
    from tributary.edges.cli.words import shown

    yield reply.verdict
    for one in reply.differences:
        about = f"{shown(one.lesson)}: " if one.lesson else ""
        figures = "" if one.said is None and one.found is None else f" (it says {one.said}; found: {one.found})"
        yield f"  {about}{_ASPECTS[one.aspect]}{figures}"
    for cause in reply.causes:
        yield f"  {_CAUSES.get(cause, shown(cause))}"
    for lesson in reply.erased:
        yield f"  erased since: {shown(lesson)}"
    for lesson in reply.missed:
        yield f"  passed over by the search, which did not call itself complete: {shown(lesson)}"


def _document(source: str) -> dict[str, object]:
    try:
        found = json.loads(sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{source}: {error.strerror}", param_hint="RECEIPT") from error
    except ValueError as error:
        raise typer.BadParameter(f"{source}: is not JSON", param_hint="RECEIPT") from error
    if isinstance(found, dict) and isinstance(found.get("receipt"), dict):
        found = found["receipt"]
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{source}: holds no receipt", param_hint="RECEIPT")
    return found
