"""Makes a tribe's life that took seconds look as if it had taken days: every instant in its tables is moved, in order.

The database stamps what it commits with its own time, so that a test cannot live three days. It can tell them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import psycopg
from psycopg import sql

# Between two knots time runs evenly. What lies before the first was given in the story's time; after the last, all moves along.
_RETOLD = """
CREATE FUNCTION pg_temp.retold(t timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(CASE
        WHEN next_lived IS NULL THEN told + (t - lived)
        ELSE told + (next_told - told)
            * (extract(epoch FROM t - lived) / extract(epoch FROM next_lived - lived))::double precision
    END), t)
    FROM (SELECT lived, told, lead(lived) OVER w AS next_lived, lead(told) OVER w AS next_told
          FROM knots WINDOW w AS (ORDER BY lived)) AS k
    WHERE t >= lived AND (next_lived IS NULL OR t < next_lived)
$$"""
_COLUMNS = """
SELECT c.table_name, array_agg(c.column_name::text) FROM information_schema.columns c
JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = 'tributary' AND c.data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE'
GROUP BY 1"""
_SHORTEST = timedelta(seconds=1)
_PRELUDE = timedelta(hours=1)
"""What was made so long before the story's first deed, such as its agents, was made so long before it in the story, too."""


class Retelling:
    """Runs what happens at the moments of a story, last ones first in hours ago, and then has the tables tell it so."""

    def __init__(self, url: str, ends_at: datetime) -> None:
        self.ends_at = ends_at
        self._url = url
        self._deeds: list[tuple[float, float, Callable[[], object]]] = []

    def add(self, hours_ago: float, deed: Callable[[], object], *, lasts: float = 0.01) -> None:
        """Has `deed` happen that many hours before the end, and take `lasts` hours, however long it does take."""
        self._deeds.append((hours_ago, lasts, deed))

    def instant(self, hours_ago: float) -> datetime:
        return self.ends_at - timedelta(hours=hours_ago)

    def tell(self) -> None:
        """Does all deeds in the order of the story, then moves every instant of the database at `url` (a superuser's)."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            knots: list[tuple[datetime, datetime]] = []

            def tie(hours_ago: float) -> None:
                row = connection.execute("SELECT clock_timestamp()").fetchone()
                assert row is not None
                after = knots[-1][1] + _SHORTEST if knots else self.instant(hours_ago)
                knots.append((row[0], max(self.instant(hours_ago), after)))  # what would overlap comes one after another

            for hours_ago, lasts, deed in sorted(self._deeds, key=lambda one: -one[0]):
                tie(hours_ago)
                deed()
                tie(hours_ago - lasts)
            tie(0)
            began, told = knots[0]
            _move(connection, [(began - _PRELUDE, told - _PRELUDE), *knots])


def _move(connection: psycopg.Connection, knots: list[tuple[datetime, datetime]]) -> None:
    with _without_triggers(connection), connection.transaction():
        connection.execute("CREATE TEMP TABLE knots (lived timestamptz PRIMARY KEY, told timestamptz NOT NULL) ON COMMIT DROP")
        connection.cursor().executemany("INSERT INTO knots VALUES (%s, %s)", knots)
        connection.execute(_RETOLD)
        for table, columns in connection.execute(_COLUMNS).fetchall():
            moved = sql.SQL(", ").join(sql.SQL("{0} = pg_temp.retold({0})").format(sql.Identifier(one)) for one in columns)
            connection.execute(sql.SQL("UPDATE tributary.{} SET {}").format(sql.Identifier(table), moved))


@contextmanager
def _without_triggers(connection: psycopg.Connection) -> Iterator[None]:
    """Lessons are immutable by a trigger, which is right about everybody but the teller of stories."""
    connection.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        connection.execute("RESET session_replication_role")
