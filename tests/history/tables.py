"""A tribe's tables after a run, read behind the product's back, and what the product's own as-of view says of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

Row = dict[str, Any]

_IN_ORDER: dict[str, LiteralString] = {
    "lesson": "learned_tick, lesson_id",
    "lesson_event": "tick, seq",
    "confirmation": "tick, lesson_id, agent_id",
    "rival": "a, b",
    "dispute": "opened_tick, dispute_id",
    "dispute_about": "dispute_id, lesson_id",
    "decision": "tick, at, decision_id",
    "idempotency": "at, key",
}


@dataclass(kw_only=True)
class Tables:
    """Rows by column name. `as_of` holds the rows of `lesson_rows_v1` at some ticks, `dump` every row of every table as text."""

    tribe: Row
    lesson: list[Row]
    lesson_event: list[Row]
    confirmation: list[Row]
    rival: list[Row]
    dispute: list[Row]
    dispute_about: list[Row]
    decision: list[Row]
    idempotency: list[Row]
    policy_changes: list[datetime]
    counts: dict[str, int]
    vectors: int
    believed_vectors: int
    as_of: dict[int, list[Row]]
    dump: list[tuple[str, str]]

    @classmethod
    def read(cls, url: str, tribe_id: UUID, *, chance: random.Random, samples: int = 40) -> Tables:
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            return _Reader(connection, tribe_id).read(chance, samples)


class _Reader:
    def __init__(self, connection: psycopg.Connection[Row], tribe_id: UUID) -> None:
        self._connection = connection
        self._tribe_id = tribe_id

    def read(self, chance: random.Random, samples: int) -> Tables:
        tables = {name: self._table(name, order) for name, order in _IN_ORDER.items()}
        for row in tables["decision"]:
            for name in ("candidates", "verdicts"):
                row[name] = [{**one, "lesson_id": UUID(one["lesson_id"])} for one in row[name]]
        tribe = self._rows("SELECT * FROM tributary.tribe WHERE tribe_id = %s")[0]
        ticks = range(tribe["clock"] + 1)
        sampled = sorted(chance.sample(ticks, min(samples, len(ticks))))
        return Tables(
            tribe=tribe,
            policy_changes=[
                row["at"]
                for row in self._rows("SELECT at FROM tributary.audit WHERE tribe_id = %s AND action = 'set_policy' ORDER BY at")
            ],
            counts={
                row["status"]: row["lessons"]
                for row in self._rows("SELECT status, lessons FROM tributary.tribe_count WHERE tribe_id = %s")
            },
            vectors=self._rows("SELECT vectors FROM tributary.tribe_space WHERE tribe_id = %s")[0]["vectors"],
            believed_vectors=self._rows("SELECT count(*) AS n FROM tributary.lesson_vector WHERE tribe_id = %s AND believed")[0][
                "n"
            ],
            as_of={tick: self._as_of(tick, [row["lesson_id"] for row in tables["lesson"]]) for tick in sampled},
            dump=list(self._dump()),
            **tables,
        )

    def _table(self, name: str, order: LiteralString) -> list[Row]:
        query = sql.SQL("SELECT * FROM tributary.{} WHERE tribe_id = %s ORDER BY {}").format(sql.Identifier(name), sql.SQL(order))
        return self._connection.execute(query, (self._tribe_id,)).fetchall()

    def _rows(self, query: LiteralString, *parameters: object) -> list[Row]:
        return self._connection.execute(query, (self._tribe_id, *parameters)).fetchall()

    def _as_of(self, tick: int, lessons: Sequence[UUID]) -> list[Row]:
        return self._rows(
            "SELECT * FROM tributary.lesson_rows_v1(%s, %s, %s) WHERE learned_tick <= %s", list(lessons), tick, tick
        )

    def _dump(self) -> Iterable[tuple[str, str]]:
        tables = self._connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'tributary' AND column_name = 'tribe_id'"
        ).fetchall()
        for table in tables:
            if table["table_name"] == "lesson_vector":  # figures only
                continue
            query = sql.SQL("SELECT t::text AS line FROM tributary.{} t WHERE tribe_id = %s").format(
                sql.Identifier(table["table_name"])
            )
            for row in self._connection.execute(query, (self._tribe_id,)):
                yield table["table_name"], row["line"]
