"""`tributary doctor`: one line for each thing that has to be right, and what to do about the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli import known_tribes
from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import UNWELL
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.edges.cli.doctor import Finding
    from tributary.edges.cli.output import Output

_NAME_WIDTH = 24


def doctor(
    context: typer.Context,
    tribe: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The tribe of the database here in which a recall is tried.",
            autocompletion=known_tribes.complete,
        ),
    ] = "default",
    patience: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, max=600.0, help="How long each check may take.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Check this computer, the server and the database, and say what to do.

    Each check is a line with ok, bad or unknown. It changes nothing and shows no secret. An embedded database that stands still
    runs meanwhile. Ends with 12 unless all is ok: what cannot be told is not ok.

    \b
    Example: tributary doctor
    """
    from tributary.edges.cli.doctor import Ground, State, examine

    doors, output = session(context, as_json=as_json)
    findings: list[Finding] = []
    for one in examine(Ground(doors=doors, tribe=tribe, patience_s=patience)):
        findings.append(one)
        if not as_json:
            output.lines(list(_lines(one)))
    well = all(one.state is State.OK for one in findings)
    if as_json:
        output.json({"ok": well, "checks": [_document(one) for one in findings]})
    else:
        _sum_up(output, findings)
    if not well:
        raise typer.Exit(UNWELL)


def _lines(one: Finding) -> Iterable[str]:
    yield f"{one.state.value:<7}  {one.check:<{_NAME_WIDTH}} {shown(one.found)}"
    if one.advice is not None:
        yield f"{'':<7}  {'':<{_NAME_WIDTH}} -> {shown(one.advice)}"


def _sum_up(output: Output, findings: Iterable[Finding]) -> None:
    states = [one.state.value for one in findings]
    output.lines([f"{states.count('ok')} ok, {states.count('bad')} bad, {states.count('unknown')} unknown."])


def _document(one: Finding) -> dict[str, object]:
    return {"check": one.check, "state": one.state.value, "found": one.found, "advice": one.advice}
