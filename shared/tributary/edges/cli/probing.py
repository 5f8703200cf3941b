"""`tributary probe`: whether everything is there that a recall needs, seen from the database itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import UNUSABLE, exit_for
from tributary.edges.cli.options import AsJson, Cell, OnlyTribe
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.core.status import Observation, Seen, Status
    from tributary.edges.cli.output import Output

_COLUMNS = (("of", "left"), ("check", "left"), ("state", "left"), ("found", "left"))
_STATES = {"ok": "ok", "not_ok": "NOT OK", "unknown": "unknown"}


def probe(
    context: typer.Context,
    tribe: OnlyTribe = None,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Look at all that a recall needs, from the database itself, and try one. For operators.

    It tells by which paths a recall can find something, and changes nothing.

    Ends with 6 when no database can be reached, with 8 when a tribe has no usable path, else with 0, warnings or not.

    \b
    Example: tributary probe --tribe default
    """
    from tributary.edges.lambda_http.status_words import observation, status

    doors, output = session(context, as_json=as_json)
    with doors.open_prober(doors.load_settings(False).in_cell(cell)) as prober:
        databases = prober.databases()
        tribes = prober.tribes(tribe)
    usable = bool(tribes) and all(one.usable for one in tribes.values())
    if as_json:
        output.json(
            {
                "usable": usable,
                "databases": [observation(one).model_dump(mode="json") for one in databases],
                "tribes": [{"tribe": name, **status(one).model_dump(mode="json")} for name, one in tribes.items()],
            }
        )
    else:
        _show(output, databases, tribes)
    if "unreachable" in _causes(databases) and not tribes:
        raise typer.Exit(exit_for("unreachable"))
    if not usable:
        raise typer.Exit(UNUSABLE)


def _show(output: Output, databases: Sequence[Observation], tribes: Mapping[str, Status]) -> None:
    output.table(_COLUMNS, [_row(one) for one in databases])
    for name, one in tribes.items():
        if len(tribes) > 1:
            output.lines([f"tribe {shown(name)}"])
        output.table(_COLUMNS, [_row(seen) for seen in one.observations])
    if not tribes:
        output.lines([_no_tribe(_causes(databases))])
    for name, one in tribes.items():
        output.lines(list(_verdict(name, one)))


def _causes(databases: Sequence[Observation]) -> set[str]:
    return {one.cause.value for one in databases if one.cause is not None}


def _no_tribe(causes: set[str]) -> str:
    if "unreachable" in causes:
        return "NOT usable: no database can be reached."
    if "not_migrated" in causes:
        return "NOT usable: the database has no schema that this version can use; run: tributary migrate"
    if causes & {"not_permitted", "timed_out", "failed"}:
        return "NOT usable: the tribes cannot be seen."
    return "NOT usable: there is no tribe; make one: tributary tribe create NAME"


def _verdict(name: str, status: Status) -> Iterator[str]:
    paths = ", ".join(path.value for path in status.usable_paths)
    yield f"Tribe {shown(name)}: usable, by {paths}." if paths else f"Tribe {shown(name)}: NOT usable, by no path."
    if status.warnings:
        yield f"Look at: {', '.join(one.check for one in status.warnings)}."


def _row(seen: Observation) -> tuple[str, str, str, str]:
    found = value_shown(seen.value) if seen.cause is None else seen.cause.value
    rule = f" (should be: {shown(seen.rule)})" if seen.state.value == "not_ok" and seen.rule else ""
    return seen.about.value, seen.check, _STATES[seen.state.value], f"{found}{rule}"


def value_shown(value: Seen | None) -> str:
    """Returns what was seen in words that are safe to print."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(shown, value)) or "none"
    return shown(str(value))
