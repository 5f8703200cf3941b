"""What an export holds: the tables of a tribe, in the order in which their foreign keys let them be filled.

A new table of tribes is one line here, or one line in LEFT_OUT; a test demands one of the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tributary.core.errors import NotMigrated
from tributary.store import statement

SPACE = "space"
"""No table of a tribe's, but its rows come along: what the tribe's embedding spaces are, before anything that lies in them."""

EXPORTED = (
    "tribe",
    SPACE,
    "agent",
    "tribe_space",
    "lesson",
    "lesson_vector",
    "lesson_term",
    "lesson_facet",
    "lesson_event",
    "tribe_event",
    "confirmation",
    "rival",
    "dispute",
    "dispute_about",
    "decision",
    "review",
    "action",
    "evidence_file",
    "idempotency",
    "audit",
    "usage",
    "activity",
    "tribe_day",
    "model_call",
    "model_day",
    "responder_day",
)

LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        "token": "lets somebody in: tokens are made anew where the tribe is restored",
        "agent_principal": "lets somebody in, as a token does: principals are bound anew",
        "session": "lets somebody in: people sign in anew where the tribe is restored",
        "tribe_count": "counted by the database as the lessons come in",
        "pace": "how fast agents write just now, forgotten within a minute",
        "settling_turn": "who is at work just now",
        "gardening": "how the gardener fared where the tribe came from: it begins anew where the tribe is restored",
        "responder_pace": "how often agents ask the incident agent just now, forgotten within a minute",
        "responder_turn": "turns that are under way just now",
    }
)

COLUMNS_LEFT_OUT: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("tribe_space", "vectors"): "counted by the database as the vectors come in",
        ("tribe_space", "past"): "counted by the database as the vectors come in",
        ("lesson_vector", "indexed"): "tells of an index, which is built anew",
    }
)


@dataclass(frozen=True, kw_only=True)
class Column:
    name: str
    type: str
    """As the catalogue names it: int8, timestamptz, halfvec, _uuid ..."""

    @property
    def key(self) -> str:
        """The name under which a row shows it: a space has another number in each database, but everywhere the same name."""
        return SPACE if self.name == "space_id" else self.name


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of tribes: its columns but the tribe's id, those that are left out, and those that the database makes itself."""

    name: str
    columns: tuple[Column, ...]
    order: tuple[Column, ...]
    """Those of the primary key, but the tribe's id."""

    @property
    def by_space(self) -> bool:
        return any(one.name == "space_id" for one in self.columns)


def tables_of(connection: psycopg.Connection) -> dict[str, Table]:
    """Returns the exported tables by name, in order, with their columns as the database has them; raises NotMigrated."""
    cursor = connection.cursor(row_factory=dict_row).execute(statement("transfer", "tables"))
    found = {row["name"]: row for row in cursor.fetchall()}
    wanted = [name for name in EXPORTED if name != SPACE]
    if missing := [name for name in wanted if name not in found]:
        raise NotMigrated(f"the database has no table {', '.join(missing)}; run 'tributary migrate'")
    return {name: _table(found[name]) for name in wanted}


def _table(row: Mapping[str, Any]) -> Table:
    name: str = row["name"]
    every = [Column(name=column, type=kind) for column, kind in zip(row["columns"], row["types"], strict=True)]
    kept = tuple(one for one in every if one.name != "tribe_id" and (name, one.name) not in COLUMNS_LEFT_OUT)
    return Table(name=name, columns=kept, order=_order(every, row["places"]))


def _order(columns: Sequence[Column], places: Sequence[int]) -> tuple[Column, ...]:
    keyed = sorted((place, number) for number, place in enumerate(places) if place >= 0)
    return tuple(columns[number] for _, number in keyed if columns[number].name not in ("tribe_id", "space_id"))
