"""`tributary status`: whether the server has everything that a recall needs, as the server itself sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.exits import UNUSABLE
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.client import MemoryStatus, Observation

_COLUMNS = (("of", "left"), ("check", "left"), ("state", "left"), ("found", "left"))
_STATES = {"ok": "ok", "not_ok": "NOT OK", "unknown": "unknown"}


def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show whether the server has all that a recall needs, as it sees itself.

    It tells by which paths it can find something now, and ends with 8 when there is none. 'tributary doctor' looks at this
    computer as well.

    \b
    Example: tributary status
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        health, found = memory.health(), memory.status()
    if as_json:
        output.json({"version": health.version, **found.model_dump(mode="json")})
    else:
        output.lines([f"The server is version {shown(health.version)}."])
        output.table(_COLUMNS, [_row(one) for one in found.observations])
        output.lines([_verdict(found)])
    if not found.usable:
        raise typer.Exit(UNUSABLE)


def _verdict(found: MemoryStatus) -> str:
    paths = ", ".join(one.path for one in found.paths if one.usable)
    return f"Usable, by {paths}." if paths else "NOT usable, by no path."


def _row(one: Observation) -> tuple[str, str, str, str]:
    value = shown(one.cause or "") if one.state == "unknown" else _value(one.value)
    rule = f" (should be: {shown(one.rule)})" if one.state == "not_ok" and one.rule else ""
    return one.about, shown(one.check), _STATES[one.state], f"{value}{rule}"


def _value(value: bool | float | str | list[str] | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "none"
    return shown(str(value))
