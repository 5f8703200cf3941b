"""The operator's way to the database, as the owner of the schema: a connection that is kept, or one for a long transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import psycopg

from tributary.core.errors import NotMigrated
from tributary.store import Target, check_level, check_revision, connect, failures, statement


class OwnerLink:
    """Connects at the first use, and again after a failure. Every method raises only our own errors. Not thread-safe."""

    def __init__(self, owner: Target) -> None:
        self._target = owner
        self._open: psycopg.Connection | None = None

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        try:
            if self._open is None or self._open.closed:
                self._open = connect(self._target)
                _check_schema(self._open)
            yield self._open
        except psycopg.Error as error:
            if self._open is not None:
                self._open.close()
            raise failures.translate(error) from error

    @contextmanager
    def own_connection(self) -> Iterator[psycopg.Connection]:
        """Gives a connection for one long transaction, that is closed with it."""
        try:
            with connect(self._target) as connection:
                _check_schema(connection)
                yield connection
        except psycopg.Error as error:
            raise failures.translate(error) from error

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        with self.connection() as connection, connection.transaction():
            yield connection

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


def _check_schema(connection: psycopg.Connection) -> None:
    """Raises NotMigrated, and CodeTooOld, rather than letting a statement find out what the schema does not have."""
    row = connection.execute(statement("access", "revision")).fetchone()
    if row is None:
        raise NotMigrated
    revision, oldest_code = cast(tuple[str, int], row)
    check_revision(revision)
    check_level(oldest_code)
