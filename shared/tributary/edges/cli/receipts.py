"""`tributary verify` and `rotate-signing-key`: whether a receipt says what the tribe believed, and what it is signed with."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.exits import DISAGREES
from tributary.edges.cli.kept_recall import compare_kept, kept_lines
from tributary.edges.cli.options import AsJson, Cell, ViaRoad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tributary.client import Verified
    from tributary.edges.cli.doors import Doors
    from tributary.edges.cli.output import Output

_CAUSES = {
    "space_retired": "the embedding space that it was searched in does not serve any more",
    "embedder_failed": "the query could not be embedded now",
    "other_weights": "the embedder here holds the model in another precision, and the figures differ no more than that explains",
    "ranking_changed": "hits are ranked by another formula now",
    "lesson_erased": "a lesson was erased since, and with it what it said",
    "listing": "it is of a listing, which answers no query",
    "time_budget": "there was no time to compare every lesson again",
    "tick_lost": "its tick is none that this memory knows: the database was set back since, by a failover or a backup",
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
        str | None,
        typer.Argument(
            metavar="RECEIPT",
            help="A file that holds it as JSON, or all that `recall --json` printed; '-' reads it from standard input.",
        ),
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="QUERY", help="The query that it answered; needed without --via.")] = None,
    via: Annotated[
        ViaRoad, typer.Option(help="Which road: have the API check it, or hold the API against the database.")
    ] = ViaRoad.API,
    lesson: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="With --via: this lesson; may be given more than once.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=100, help="With --via, and no RECEIPT or --lesson: so many, the newest.")
    ] = 20,
    tool: Annotated[str | None, typer.Option(metavar="NAME", help="With --via mcp: the server's tool; else 'query'.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt; or, with --via, the API itself against its database.

    By itself it has the API check RECEIPT against what the tribe believed at its tick, and compares the lessons that the file
    holds beside it with what the API shows of them as of then. It ends with 9 unless all agrees.

    With --via the clock, the counts and lessons, or with RECEIPT its hits, are looked up in the database by a road on which
    nothing of Tributary stands, field by field: AGREES, DIVERGES or UNKNOWN. It ends with 0 when all agree, with 1 when
    anything diverges, else with 11.

    \b
    Examples:
      tributary recall "deploy payments" --json > found.json && tributary verify found.json --query "deploy payments"
      tributary verify --via mcp
      tributary verify found.json --via data-api
    """
    doors, output = session(context, as_json=as_json)
    if via is not ViaRoad.API:
        _verify_by(doors, output, via, _Asked(receipt=receipt, query=query, lessons=lesson or [], limit=limit, tool=tool))
        return
    if lesson or tool is not None:
        raise typer.BadParameter("needs --via data-api or --via mcp", param_hint="--lesson" if lesson else "--tool")
    if receipt is None:
        raise typer.BadParameter("is missing; only with --via it may be left out", param_hint="RECEIPT")
    if query is None:
        raise typer.BadParameter("is missing: a receipt is checked with the query that it answered", param_hint="--query")
    document = _document(receipt)
    with doors.open_client() as memory:
        reply = memory.verify(_receipt(document), query=query)
        signed = all(one.aspect != "signature" for one in reply.differences)
        kept = compare_kept(memory, document) if signed else None
    if kept and kept.altered:
        reply = reply.model_copy(update={"verdict": "diverges"})
    lines = [*_lines(reply), *(kept_lines(kept) if kept else ())]
    output.result(reply.model_dump(mode="json") | {"lessons": kept.document() if kept else None}, lines)
    if reply.verdict != "agrees":
        raise typer.Exit(DISAGREES)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What to hold against the database."""

    receipt: str | None
    query: str | None
    lessons: Sequence[str]
    limit: int
    tool: str | None


def _verify_by(doors: Doors, output: Output, via: ViaRoad, asked: _Asked) -> None:
    from tributary.edges.cli import independent
    from tributary.edges.cli.independent.claims import of_api, of_receipt

    if asked.query is not None:
        raise typer.BadParameter("goes without --via: the database cannot embed a query", param_hint="--query")
    if asked.receipt is not None and asked.lessons:
        raise typer.BadParameter("goes without RECEIPT, which names its own lessons", param_hint="--lesson")
    if asked.tool is not None and via is not ViaRoad.MCP:
        raise typer.BadParameter("needs --via mcp", param_hint="--tool")
    road = independent.open_road(via, tool=asked.tool, environment=doors.environment)
    with doors.open_client() as memory:
        if asked.receipt is None:
            claimed = of_api(memory, lessons=asked.lessons, limit=asked.limit)
        else:
            claimed = of_receipt(memory, _document(asked.receipt))
    checked = independent.check(road, claimed)
    if output.as_json:
        output.json(independent.document(checked))
    else:
        independent.show(output, checked)
    if exit_code := independent.exit_of(checked):
        raise typer.Exit(exit_code)


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


def _receipt(document: dict[str, object]) -> dict[str, object]:
    """Returns the receipt alone, of a document that may hold the hits beside it."""
    inner = document.get("receipt")
    return inner if isinstance(inner, dict) else document


def _document(source: str) -> dict[str, object]:
    try:
        found = json.loads(sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{source}: {error.strerror}", param_hint="RECEIPT") from error
    except ValueError as error:
        raise typer.BadParameter(f"{source}: is not JSON", param_hint="RECEIPT") from error
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{source}: holds no receipt", param_hint="RECEIPT")
    return found
