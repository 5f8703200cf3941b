"""Options that several commands share, and how their words are read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

import typer

from tributary.edges.cli import known_tribes

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output, and nothing else.")]
Tribe = Annotated[str, typer.Option("--tribe", metavar="NAME", help="The tribe's name.", autocompletion=known_tribes.complete)]
OnlyTribe = Annotated[
    str | None,
    typer.Option(
        "--tribe", metavar="NAME", help="Only this tribe; all of them without it.", autocompletion=known_tribes.complete
    ),
]
Cell = Annotated[
    str | None,
    typer.Option("--cell", metavar="NAME", help="The cell that is meant, of those in TRIBUTARY_CELLS; else the own one."),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="A tag; may be given more than once.")]


class KindName(StrEnum):
    GOTCHA = "gotcha"
    ENTITY_FACT = "entity_fact"
    OBSERVATION = "observation"
    RUNBOOK_FACT = "runbook_fact"
    RESOLUTION = "resolution"
    REJECTED_HYPOTHESIS = "rejected_hypothesis"


class HowName(StrEnum):
    OBSERVED = "observed"
    DERIVED = "derived"
    TOLD = "told"
    IMPORTED = "imported"


class StatusName(StrEnum):
    ACTIVE = "active"
    PENDING = "pending"
    DISPUTED = "disputed"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    EVICTED = "evicted"
    ERASED = "erased"
    ANY = "any"


class RequireName(StrEnum):
    ANY = "any"
    VECTOR = "vector"


class ViaName(StrEnum):
    DIRECT = "direct"
    LAMBDA = "lambda"


class ViaRoad(StrEnum):
    """Roads by which something can be verified."""

    API = "api"
    DATA_API = "data-api"
    MCP = "mcp"


class RoleName(StrEnum):
    READER = "reader"
    WRITER = "writer"
    CURATOR = "curator"


def pairs(given: Sequence[str] | None, option: str, form: str = "KEY=VALUE") -> list[tuple[str, str]]:
    """Returns words such as KEY=VALUE as pairs; raises a usage error that names the form for a word that is none."""
    found = []
    for word in given or ():
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise typer.BadParameter(f"'{word}' must look like {form}", param_hint=option)
        found.append((key, value))
    return found


def time_or_tick(given: str | None, option: str) -> int | datetime | None:
    """Returns a tick for digits, else the time that is written; raises a usage error for neither."""
    if given is not None and given.isascii() and given.isdigit():
        return int(given)
    return time(given, option)


def day(given: str | None, option: str) -> date | None:
    """Returns a day of the calendar; raises a usage error for what is none."""
    if given is None:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise typer.BadParameter(f"'{given}' must be a day such as 2026-03-01", param_hint=option) from None


def time(given: str | None, option: str) -> datetime | None:
    """Returns an RFC 3339 time with its offset, or one as our own output shows it; raises a usage error for anything else."""
    if given is None:
        return None
    try:
        found = datetime.fromisoformat(given.removesuffix(" UTC") + "Z" if given.endswith(" UTC") else given)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        rule = f"'{given}' must be a time with an offset, such as 2026-03-01T12:00:00Z"
        raise typer.BadParameter(rule, param_hint=option)
    return found
