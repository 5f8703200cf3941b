"""Connections, kept small: each call borrows one, runs one autocommitted statement, and gives it back.

Behind a pooler in transaction mode (RDS Proxy, PgBouncer) nothing here pins a server session: no SET, no named statement, no
cursor; every statement is short, with its values bound on the server's side.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg.rows import RowFactory, dict_row, tuple_row

from tributary.core.errors import BadSetting, NotMigrated, Overloaded, Unavailable
from tributary.store import failures
from tributary.store.patience import SPARE_S, Absence, Connection, NoAnswer, OutOfTime, left_s
from tributary.store.roles import OWNER
from tributary.telemetry import Event, log

ATTEMPTS = 4
BACKOFF_S = 0.05
Parameters = Mapping[str, object]
Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where to connect. `assume` names a role to act as from the start, for a URL that logs in as somebody mightier.

    It travels in the startup packet, so it needs a direct connection; behind a pooler, log in as that role instead, whose own
    settings bound its statements. `read_only` goes with it, and has the server refuse every write, even one that was promoted
    from a replica meanwhile. Without it the endpoint must see to that: a replica refuses writes by itself, and the reader
    endpoint of a proxy leads to replicas.
    """

    url: str
    password: Callable[[], str] | None = None
    """Makes the password of each new connection, for a URL without one. What it raises goes to the caller as it is."""
    setting: str | None = None
    """The setting that the URL came from, for messages."""
    assume: str | None = None
    lesser: bool = False
    """Refuses a login that can do all that the owner can, where what is assumed, if anything, is not to be that."""
    read_only: bool = False
    connect_timeout_s: int = 5
    statement_timeout_s: int = 25
    """What the server is told, and, with some to spare, what is waited for an answer at most; 0 is no limit."""


class Database:
    """A thread-safe stack of connections, opened when needed and at most `limit` at once. `name` tells it apart in logs.

    One that does not answer is Unavailable: to whoever asks first after a time-out, and for some seconds to all others at once.
    """

    is_writer = True
    """Whether its word is final. True of a database that is all there is, too (`store.reading`)."""

    def __init__(
        self,
        target: Target | Callable[[], Target],
        *,
        name: str = "writer",
        limit: int = 16,
        wait_s: float = 10.0,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._target = target
        self._name = name
        self._attempts = attempts
        self._places = threading.BoundedSemaphore(limit)
        self._wait_s = wait_s
        self._idle: list[Connection] = []
        self._absence = Absence()
        self._lock = threading.Lock()
        self._closed = False

    def value(self, query: LiteralString, parameters: Parameters, *, attempts: int | None = None) -> object:
        """Runs a statement that gives one value in one row, and returns it (None without a row).

        The statement must be a read, or a write that carries an idempotency key: it is sent again when the connection is
        lost or the server asks for another try, `attempts` times in all. Raises only our own errors.
        """
        rows = self.rows(query, parameters, attempts=attempts)
        return rows[0][0] if rows else None

    def records(self, query: LiteralString, parameters: Parameters, *, attempts: int | None = None) -> list[dict[str, Any]]:
        """Runs a statement as `value` does, and returns all its rows by column name."""
        return self._run(query, parameters, dict_row, attempts or self._attempts)

    def rows(self, query: LiteralString, parameters: Parameters, *, attempts: int | None = None) -> list[tuple[Any, ...]]:
        """Runs a statement as `value` does, and returns all its rows."""
        return self._run(query, parameters, tuple_row, attempts or self._attempts)

    def sides(self) -> tuple[Database]:
        """Returns itself: the one database that can be asked (`store.reading.Reading`)."""
        return (self,)

    def close(self) -> None:
        self._closed = True
        self._drop_idle()

    def _run(self, query: LiteralString, parameters: Parameters, factory: RowFactory[Row], attempts: int) -> list[Row]:
        for attempt in range(1, attempts + 1):
            try:
                return self._once(query, parameters, factory)
            except psycopg.Error as error:
                unanswered = isinstance(error, NoAnswer) and not isinstance(error, OutOfTime)
                if unanswered:
                    self._absence.begin()
                if unanswered or failures.lost_connection(error):
                    self._drop_idle()  # each of them leads to where nobody answers, or where nothing is written
                if attempt == attempts or not failures.worth_retrying(error):
                    if isinstance(mapped := failures.translate(error), Unavailable):
                        log.event(
                            Event.DATABASE_UNAVAILABLE,
                            level=log.WARNING,
                            database=self._name,
                            sqlstate=error.sqlstate,
                            attempts=attempt,
                        )
                    raise mapped from error
                log.event(
                    Event.DATABASE_RETRIED, level=log.WARNING, database=self._name, sqlstate=error.sqlstate, attempt=attempt
                )
                time.sleep(random.uniform(0, BACKOFF_S * 2**attempt))  # noqa: S311  (jitter, no secret)
        raise AssertionError("unreachable")

    def _once(self, query: LiteralString, parameters: Parameters, factory: RowFactory[Row]) -> list[Row]:
        if not self._places.acquire(timeout=min(self._wait_s, left_s())):
            raise Overloaded("every database connection of this process is busy; try again")
        try:
            connection = self._borrow()
            try:
                cursor = connection.cursor(row_factory=factory).execute(query, parameters)
                result = cursor.fetchall() if cursor.description is not None else []
            except BaseException:
                if connection.broken or connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    connection.close()
                raise
            finally:
                if not connection.closed:
                    self._give_back(connection)
            return result
        finally:
            self._places.release()

    def _borrow(self) -> Connection:
        with self._lock:
            if self._closed:
                raise Unavailable("this memory was closed")
            if self._idle:
                return self._idle.pop()
        target = self._target if isinstance(self._target, Target) else self._target()
        with self._absence.dialing():
            connection = connect(target)
        connection.most_s = target.statement_timeout_s + SPARE_S if target.statement_timeout_s else math.inf
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def connect(target: Target, *, autocommit: bool = True) -> Connection:
    """Opens one connection that prepares nothing by name.

    Raises psycopg.Error, NotMigrated without the role to assume, and BadSetting where the login may not become it, or is one
    that `target` refuses.
    """
    try:
        connection = _connect(target, autocommit=autocommit)
    except psycopg.errors.ConnectionTimeout:
        raise  # nor would it answer to the question whether the role is there
    except psycopg.OperationalError:
        if target.assume is not None:
            _check_role(replace(target, assume=None), target.assume)
        raise
    if target.lesser:
        _check_lesser(connection, target.setting)
    return connection


def _connect(target: Target, *, autocommit: bool) -> Connection:
    left = left_s()
    given = psycopg.conninfo.conninfo_to_dict(target.url)
    options = [str(given["options"])] if given.get("options") else []
    if target.assume is not None:
        options.append(f"-c role={target.assume} -c statement_timeout={target.statement_timeout_s}s")
        if target.read_only:
            options.append("-c default_transaction_read_only=on")
    extra: dict[str, str] = {"options": " ".join(options)} if options else {}
    if target.password is not None:
        extra["password"] = target.password()
    timeout = int(given.get("connect_timeout") or target.connect_timeout_s)
    if not math.isinf(left):
        timeout = min(timeout or math.ceil(left), math.ceil(left))
    return Connection.connect(
        psycopg.conninfo.make_conninfo(
            target.url,
            connect_timeout=timeout,
            application_name=given.get("application_name") or "tributary",
            client_encoding="utf8",
            **extra,
        ),
        autocommit=autocommit,
        prepare_threshold=None,
    )


def _check_role(target: Target, role: str) -> None:
    """Raises when a role cannot be assumed; a server refuses that at the start, without a SQLSTATE to tell why by."""
    with _connect(target, autocommit=True) as connection:
        row = connection.execute(
            "SELECT pg_has_role(current_user, oid, 'MEMBER'), current_user FROM pg_roles WHERE rolname = %s", (role,)
        ).fetchone()
    if row is None:
        raise NotMigrated
    if not row[0]:
        raise BadSetting(
            f"{_setting(target.setting)}: its login '{row[1]}' may not become {role}; let {role} be granted to it, or set"
            " TRIBUTARY_OWNER_URL to another login's, and the database URL's is taken as it is"
        )


def _check_lesser(connection: psycopg.Connection, setting: str | None) -> None:
    try:
        row = connection.execute(
            """SELECT current_user FROM pg_roles r WHERE r.rolname = current_user AND (r.rolsuper OR EXISTS (
                   SELECT FROM pg_roles o WHERE o.rolname = %s AND pg_has_role(current_user, o.oid, 'MEMBER')))""",
            (OWNER,),
        ).fetchone()
    except BaseException:
        connection.close()
        raise
    if row is not None:
        connection.close()
        raise BadSetting(
            f"{_setting(setting)}: its login '{row[0]}' is a superuser or may become {OWNER}, and code that serves must not be;"
            " log in as a member of tributary_runtime, or of a function's role"
        )


def _setting(known: str | None) -> str:
    return known or "the database's URL"
