"""A tribe as an export: every row of it, as one snapshot has them, in an order that depends on nothing but the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg import IsolationLevel, sql
from psycopg.rows import tuple_row

from tributary.core.errors import NotFound
from tributary.store import statement
from tributary.transfer.tribes.form import Header, Progress, Summary, Tally
from tributary.transfer.tribes.tables import SPACE, Column, Table, tables_of

_ROWS_BETWEEN = 1000
"""Rows after which progress is told."""


def export_tribe(
    connection: psycopg.Connection,
    name: str,
    write: Callable[[bytes], object],
    *,
    progress: Progress = lambda _table, _rows: None,
) -> Summary:
    """Writes a tribe line by line, and returns what it was; the memory that it takes does not grow with the tribe.

    `connection` acts as the owner, is the caller's alone and goes straight to the server: its transaction is read-only and
    stays open for as long as `write` takes. Raises NotFound, psycopg.Error, and what `write` raises.
    """
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    with connection.transaction():
        connection.execute(statement("transfer", "session"))
        header = _header(connection, name)
        tally = Tally()

        def put(line: bytes, table: str | None = None) -> None:
            tally.add(line, table)
            write(line)

        put(header.line())
        for table, row in _rows(connection, header.tribe_id):
            put(f'{{"table":"{table}","row":{row}}}\n'.encode(), table)
            if tally.rows[table] % _ROWS_BETWEEN == 0:
                progress(table, tally.rows[table])
        write(tally.line())
    return Summary(tribe_id=header.tribe_id, name=name, tick=header.tick, rows=dict(tally.rows), sha256=tally.sha256)


def _header(connection: psycopg.Connection, name: str) -> Header:
    found = connection.execute(statement("transfer", "tribe"), {"name": name}).fetchone()
    if found is None:
        raise NotFound(f"there is no tribe named '{name}'; 'tributary tribe list' shows those that there are")
    tribe_id, known_as, tick = cast(tuple[UUID, str, int], found)
    return Header(tribe_id=tribe_id, name=known_as, tick=tick, schema=schema_of(connection))


def schema_of(connection: psycopg.Connection) -> str:
    """Returns the revision of the schema."""
    row = connection.execute(statement("access", "revision")).fetchone()
    return str(cast(tuple[object, ...], row)[0])


def _rows(connection: psycopg.Connection, tribe_id: UUID) -> Iterator[tuple[str, str]]:
    """Gives each row as JSON, with the table that it is in."""
    tables = tables_of(connection)
    spaces = connection.execute(statement("transfer", "spaces"), {"tribe_id": tribe_id}).fetchall()
    for name, table in tables.items():
        if name == "agent":
            yield from ((SPACE, cast(str, row)) for _, _, row in spaces)
        for space_id in [number for number, _, _ in spaces] if table.by_space else [None]:
            yield from ((name, row) for row in _stream(connection, table, {"tribe_id": tribe_id, "space_id": space_id}))


def _stream(connection: psycopg.Connection, table: Table, parameters: dict[str, Any]) -> Iterator[str]:
    """Gives the rows of a table one by one, as the server sends them: neither side holds them all."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        for (row,) in cursor.stream(_select(table), parameters):
            yield row


def _select(table: Table) -> sql.Composed:
    columns = [sql.SQL("{} AS {}").format(_shown(one), sql.Identifier(one.key)) for one in table.columns]
    order = [_sorted(one) for one in table.order]
    return sql.SQL(
        "SELECT row_to_json(r)::text FROM {table} t CROSS JOIN LATERAL (SELECT {columns}) r"
        " WHERE t.tribe_id = %(tribe_id)s{space}{order}"
    ).format(
        table=sql.Identifier("tributary", table.name),
        columns=sql.SQL(", ").join(columns),
        space=sql.SQL(" AND t.space_id = %(space_id)s" if table.by_space else ""),
        order=sql.SQL(" ORDER BY ") + sql.SQL(", ").join(order) if order else sql.SQL(""),
    )


def _shown(column: Column) -> sql.Composable:
    if column.name == "space_id":
        return sql.SQL("(SELECT s.name FROM tributary.space s WHERE s.space_id = t.space_id)")
    if column.type == "halfvec":
        return sql.SQL("translate(encode(public.halfvec_send(t.{}), 'base64'), E'\\n', '')").format(sql.Identifier(column.name))
    return sql.Identifier("t", column.name)


def _sorted(column: Column) -> sql.Composable:
    collation = sql.SQL(' COLLATE "C"' if column.type == "text" else "")
    return sql.Identifier("t", column.name) + collation
