"""An export as a tribe again: all of it in one transaction, or nothing.

    read -> check -> batch -> insert -> look over

What a line may say is checked here, by the columns that the database has; what the rows may say of one another is left to the
database's own rules, which hold for whoever writes. A refusal names the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import psycopg
from psycopg import sql

from tributary.core.errors import InvalidRequest, WrongStanding
from tributary.core.limits import check_name
from tributary.store import statement
from tributary.transfer.tribes.export import schema_of
from tributary.transfer.tribes.form import Progress, Reader, Row, Summary, about_the_data, refuse, vector_text
from tributary.transfer.tribes.spaces import Spaces
from tributary.transfer.tribes.tables import EXPORTED, SPACE, Column, Table, tables_of

_BATCH_ROWS = 500
_BATCH_BYTES = 4 * 1024 * 1024
_NUMBERS = {"int2", "int4", "int8", "float8", "numeric"}
_NO_NUMBERS = {"NaN", "Infinity", "-Infinity"}


def restore_tribe(
    connection: psycopg.Connection,
    lines: Iterable[bytes],
    *,
    name: str | None = None,
    progress: Progress = lambda _table, _rows: None,
) -> Summary:
    """Makes the tribe that an export holds, under another name if one is given, wholly or not at all.

    `connection` acts as the owner and goes straight to the server. Raises InvalidRequest, naming the line, for what is not an
    export, not a whole one, or breaks a rule; WrongStanding when the tribe or its name is there already, or the schema or a
    space is another; psycopg.Error.
    """
    reader = Reader(lines)
    named = name if name is not None else reader.header.name
    check_name("name", named)
    with connection.transaction():
        connection.execute(statement("transfer", "session"))
        _Restoring(connection, reader, named, progress).run()
    header = reader.header
    return Summary(
        tribe_id=header.tribe_id, name=named, tick=header.tick, rows=dict(reader.tally.rows), sha256=reader.tally.sha256
    )


class _Restoring:
    """One restoring, inside its transaction."""

    def __init__(self, connection: psycopg.Connection, reader: Reader, name: str, progress: Progress) -> None:
        self._connection = connection
        self._reader = reader
        self._name = name
        self._progress = progress
        self._tribe_id = reader.header.tribe_id
        self._spaces = Spaces(connection)
        self._tables: Mapping[str, Table] = {}
        self._batch: list[Row] = []
        self._bytes = 0

    def run(self) -> None:
        self._check_room()
        self._tables = tables_of(self._connection)
        at = 0
        for row in self._reader.rows():
            place = EXPORTED.index(row.table) if row.table in EXPORTED else -1
            if place < at:
                refuse(row.number, "names no table of an export, or one whose turn is over")
            if place > at or self._bytes > _BATCH_BYTES or len(self._batch) == _BATCH_ROWS:
                self._flush()
            at = place
            self._take(row)
        self._flush()
        self._look_over()

    def _check_room(self) -> None:
        header = self._reader.header
        if (schema := schema_of(self._connection)) != header.schema:
            raise WrongStanding(
                f"the export is of the schema '{header.schema}', and this database has '{schema}': restore it with the version"
                " that made it, then migrate"
            )
        taken = self._connection.execute(
            statement("transfer", "taken"), {"tribe_id": self._tribe_id, "name": self._name}
        ).fetchone()
        if taken is not None:
            raise _taken(self._name if taken[0] != self._tribe_id else None)

    def _take(self, row: Row) -> None:
        if row.table == SPACE:
            self._spaces.take(row)
            return
        checked = _checked(self._tables[row.table], row, self._spaces.numbers)
        self._batch.append(checked)
        self._bytes += len(checked.text)

    def _flush(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if not batch:
            return
        table = self._tables[batch[0].table]
        try:
            with self._connection.transaction():
                self._insert(table, batch)
        except psycopg.Error as error:
            if not about_the_data(error):
                raise
            self._name_the_line(table, batch)
            raise
        self._progress(table.name, self._reader.tally.rows[table.name])

    def _name_the_line(self, table: Table, batch: Sequence[Row]) -> None:
        """Inserts the rows of a refused batch one by one, up to the one that is refused."""
        for row in batch:
            try:
                with self._connection.transaction():
                    self._insert(table, [row])
            except psycopg.errors.UniqueViolation as error:
                if table.name == "tribe":  # somebody made it meanwhile
                    raise _taken(self._name) from error
                refuse(row.number, f"{table.name}: is there twice ({error.diag.constraint_name})")
            except psycopg.Error as error:
                if not about_the_data(error):
                    raise
                what = error.diag.constraint_name or error.diag.column_name or "a value"
                refuse(row.number, f"{table.name}: the database refuses {what} (SQLSTATE {error.sqlstate})")

    def _insert(self, table: Table, rows: Sequence[Row]) -> None:
        parameters = {"tribe_id": self._tribe_id, "name": self._name, "rows": "\n".join(one.text.rstrip("\n") for one in rows)}
        self._connection.execute(_insertion(table), parameters)

    def _look_over(self) -> None:
        """Looks at what no single row can break."""
        try:
            self._connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.errors.ForeignKeyViolation as error:
            raise InvalidRequest("lesson", f"the database refuses the whole ({error.diag.constraint_name})") from error
        found = self._connection.execute(statement("transfer", "clock"), {"tribe_id": self._tribe_id}).fetchone()
        if found is None:
            raise InvalidRequest("tribe", "the export holds no tribe")
        clock, ticks, latest = cast(tuple[int, int, int], found)
        if not clock == ticks == latest == self._reader.header.tick:
            said = f"the first line says {self._reader.header.tick}, the clock {clock}, the events {ticks} ticks up to {latest}"
            raise InvalidRequest("tick", said)


def _taken(name: str | None) -> WrongStanding:
    if name is None:
        return WrongStanding("this tribe is in the database already, under this or another name")
    return WrongStanding(f"there is a tribe named '{name}' already; restore this one under another name, with --as")


def _insertion(table: Table) -> sql.Composed:
    """Returns the statement that inserts rows given as JSON: their values are read by the types of the table's own columns.

    They come as lines of one text. As an array of texts each quotation mark in them would be escaped, at half of the whole cost.
    """
    named = [one for one in table.columns if table.name != "tribe" or one.name != "name"]
    names = [sql.Identifier(one.name) for one in named]
    values = [_value(one) for one in named]
    if table.name == "tribe":
        names.append(sql.Identifier("name"))
        values.append(sql.SQL("%(name)s"))
    return sql.SQL(
        """INSERT INTO {table} (tribe_id, {names}) SELECT %(tribe_id)s, {values}
           FROM string_to_table(%(rows)s, E'\\n') WITH ORDINALITY AS g(line, place),
                json_populate_record(NULL::{table}, g.line::json -> 'row') r ORDER BY g.place"""
    ).format(table=sql.Identifier("tributary", table.name), names=sql.SQL(", ").join(names), values=sql.SQL(", ").join(values))


def _value(column: Column) -> sql.Composable:
    if column.name == "space_id":
        return sql.SQL("(SELECT s.space_id FROM tributary.space s WHERE s.name = g.line::json #>> '{{row,space}}')").format()
    return sql.Identifier("r", column.name)


def _checked(table: Table, row: Row, spaces: Mapping[str, int]) -> Row:
    """Returns a row whose values have the kinds that its columns want; raises InvalidRequest naming the first without."""
    wanted = {one.key for one in table.columns}
    if more := sorted(set(row.values) - wanted):
        refuse(row.number, f"{table.name}: has a column {json.dumps(more[0])} that is none of an export's")
    for column in table.columns:
        if column.key not in row.values:
            refuse(row.number, f"{table.name}: lacks the column '{column.key}'")
        rule = _broken(column, row.values[column.key], spaces)
        if rule is not None:
            refuse(row.number, f"{table.name}.{column.key}: {rule}")
    packed = [one.key for one in table.columns if one.type == "halfvec"]
    return _unpacked(row, packed) if packed else row


def _broken(column: Column, value: Any, spaces: Mapping[str, int]) -> str | None:
    """Returns the rule that a value breaks. NULL is the database's to refuse, and the syntax of what is written as a string."""
    if value is None:
        return None
    if column.name == "space_id":
        return None if isinstance(value, str) and value in spaces else "must be one of the spaces that the export brings along"
    if column.type in ("json", "jsonb"):
        return None
    if column.type == "bool":
        return None if isinstance(value, bool) else "must be true or false"
    if column.type in _NUMBERS:
        fits = type(value) is int or (column.type in ("float8", "numeric") and (type(value) is float or value in _NO_NUMBERS))
        return None if fits else "must be a number"
    if column.type.startswith("_"):
        return None if isinstance(value, list) and all(isinstance(one, str) for one in value) else "must be a list of strings"
    return None if isinstance(value, str) else "must be a string"


def _unpacked(row: Row, keys: Sequence[str]) -> Row:
    values = dict(row.values)
    for key in keys:
        try:
            values[key] = vector_text(values[key])
        except (ValueError, TypeError):
            refuse(row.number, f"{row.table}.{key}: must be a vector, as base64")
    return replace(row, text=json.dumps({"row": values}))
