"""The statements that may be asked over another road, and no other. Pure.

Each reads views that are made for this alone (85_verification.sql) and binds ids and ticks, so nothing that anybody wrote is
ever part of a statement. A lesson's standing is derived from its events, which is not where the API reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

Parameter = UUID | int
Value = str | int | bool | None
Row = Mapping[str, Value]

LATEST = 2**63 - 1
"""The largest tick that a bigint holds."""

_PLACE = re.compile(r":([a-z]+)\b")


class BadAnswer(Exception):
    """An answer has not the columns or the types that its statement declares."""


class Kind(StrEnum):
    """What a column holds, and how it is read from the texts and numbers that a road gives."""

    NUMBER = "number"
    """From 0 up; some roads give a bigint as digits."""
    WORD = "word"
    ID = "id"
    HASH = "hash"
    """SHA-256 in hexadecimal."""
    FLAG = "flag"


_FORMS = {
    Kind.WORD: re.compile(r"[a-z_]{1,40}"),
    Kind.ID: re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    Kind.HASH: re.compile(r"[0-9a-f]{64}"),
}


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One statement with what is bound to it."""

    name: str
    sql: str
    parameters: Mapping[str, Parameter]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement of the catalogue. `columns` are all that it answers; those in `nullable` may be NULL."""

    name: str
    sql: str
    parameters: Mapping[str, type[UUID] | type[int]]
    columns: Mapping[str, Kind]
    nullable: frozenset[str] = field(default_factory=frozenset)

    def ask(self, **parameters: Parameter) -> Ask:
        """Binds the parameters; raises ValueError when they are not what the statement declares."""
        asked = Ask(name=self.name, sql=self.sql, parameters=parameters)
        if not self.is_asked_by(asked):
            raise ValueError(f"{self.name} takes {', '.join(self.parameters)}, each of its type and range")
        return asked

    def is_asked_by(self, asked: Ask) -> bool:
        """Tells whether `asked` is this very statement, with parameters of exactly the types that it declares."""
        return (
            (asked.name, asked.sql) == (self.name, self.sql)
            and set(asked.parameters) == set(self.parameters)
            and all(_fits(asked.parameters[name], kind) for name, kind in self.parameters.items())
        )

    def read(self, rows: Sequence[Row]) -> list[dict[str, Value]]:
        """Returns the rows with each value in its type; raises BadAnswer for any other column or form."""
        for row in rows:
            if set(row) != set(self.columns):
                raise BadAnswer(f"{self.name} answers other columns")
        return [{name: self._value(name, row[name]) for name in self.columns} for row in rows]

    def _value(self, column: str, value: Value) -> Value:
        if value is None:
            if column in self.nullable:
                return None
            raise BadAnswer(f"{self.name}.{column} is NULL")
        return _typed(f"{self.name}.{column}", self.columns[column], value)


def rendered(asked: Ask) -> str:
    """Returns the statement as one text, for roads that bind nothing: ids in quotes and ticks as digits are all there can be."""
    literals = {name: _literal(value) for name, value in asked.parameters.items()}
    return _PLACE.sub(lambda found: literals[found.group(1)], asked.sql)


def _literal(value: Parameter) -> str:
    return f"'{value}'" if isinstance(value, UUID) else str(value)


def _fits(value: object, kind: type[UUID] | type[int]) -> bool:
    # exactly: a subclass may write itself down as anything
    return type(value) is kind and (not isinstance(value, int) or 0 <= value <= LATEST)


def _typed(where: str, kind: Kind, value: Value) -> Value:
    if kind is Kind.FLAG:
        if isinstance(value, bool):
            return value
    elif kind is Kind.NUMBER:
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST:
            return value
    elif isinstance(value, str) and _FORMS[kind].fullmatch(value):
        return value
    raise BadAnswer(f"{where} is no {kind.value}")


CLOCK = Statement(
    name="clock",
    sql="""SELECT t.clock, t.replica,
       (SELECT max(k.tick) FROM tributary.verification_tick k
        WHERE k.tribe_id = t.tribe_id AND k.tick <= CAST(:tick AS bigint)) AS written
FROM tributary.verification_tribe t
WHERE t.tribe_id = CAST(:tribe AS uuid)""",
    parameters={"tribe": UUID, "tick": int},
    columns={"clock": Kind.NUMBER, "replica": Kind.FLAG, "written": Kind.NUMBER},
    nullable=frozenset({"written"}),
)
"""A tribe's clock, and the last tick up to `tick` at which something was written down."""

COUNTS = Statement(
    name="counts",
    sql="""SELECT s.status, count(*) AS lessons
FROM (SELECT DISTINCT ON (e.lesson_id) e.lesson_id, e.status FROM tributary.verification_event e
      WHERE e.tribe_id = CAST(:tribe AS uuid) AND e.tick <= CAST(:tick AS bigint)
      ORDER BY e.lesson_id, e.tick DESC, e.seq DESC) s
GROUP BY s.status""",
    parameters={"tribe": UUID, "tick": int},
    columns={"status": Kind.WORD, "lessons": Kind.NUMBER},
)
"""How many lessons stood how at a tick, by what had happened to each."""

LESSON = Statement(
    name="lesson",
    sql="""SELECT h.learned, h.status, h.activated, h.deactivated, l.text_sha256,
       CASE WHEN h.deactivated IS NOT NULL THEN CAST(l.superseded_by AS text) END AS successor
FROM tributary.verification_lesson l,
     LATERAL (SELECT min(e.tick) AS learned,
                     min(e.tick) FILTER (WHERE e.status = 'active') AS activated,
                     min(e.tick) FILTER (WHERE e.status <> 'active' AND e.tick > (
                         SELECT min(a.tick) FROM tributary.verification_event a
                         WHERE a.tribe_id = l.tribe_id AND a.lesson_id = l.lesson_id AND a.status = 'active')) AS deactivated,
                     (array_agg(e.status ORDER BY e.tick DESC, e.seq DESC))[1] AS status
              FROM tributary.verification_event e
              WHERE e.tribe_id = l.tribe_id AND e.lesson_id = l.lesson_id AND e.tick <= CAST(:tick AS bigint)) h
WHERE l.tribe_id = CAST(:tribe AS uuid) AND l.lesson_id = CAST(:lesson AS uuid) AND h.learned IS NOT NULL""",
    parameters={"tribe": UUID, "lesson": UUID, "tick": int},
    columns={
        "learned": Kind.NUMBER,
        "status": Kind.WORD,
        "activated": Kind.NUMBER,
        "deactivated": Kind.NUMBER,
        "text_sha256": Kind.HASH,
        "successor": Kind.ID,
    },
    nullable=frozenset({"activated", "deactivated", "text_sha256", "successor"}),
)
"""How a lesson stood at a tick by its events, and what it says now. No row when the tribe did not have it then."""

CATALOGUE: Mapping[str, Statement] = {one.name: one for one in (CLOCK, COUNTS, LESSON)}
"""The allow list."""
