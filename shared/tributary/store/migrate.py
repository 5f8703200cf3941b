"""Migrations: forward only, one transaction, one at a time, plain SQL run by Alembic.

A migration expands first (old code goes on running) and contracts in a later release, by raising
`schema_requirement.oldest_code`: code older than that refuses to run.
"""

from __future__ import annotations

import io
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tributary.core.errors import BadSetting, NotMigrated, Overloaded, TributaryError, Unavailable
from tributary.store import failures
from tributary.store.database import Target, connect
from tributary.store.level import OTHER_VERSION, check_level, check_revision
from tributary.store.queries import statement
from tributary.store.roles import OWNER

if TYPE_CHECKING:
    from alembic.config import Config

# Any two migrations of one database wait for each other on it; the figure itself means nothing.
_LOCK = 0x7472_6962
LOCK_WAIT_S = 2
"""How long one try of a migration waits for a lock. Whoever asks for the table meanwhile queues up behind it, readers too."""
LOCKS_S = 120.0
"""For how long it is tried again, when somebody else keeps a lock from it; in between all who queued up get their turn."""
_BETWEEN_TRIES_S = 1.0
_IN_THE_WAY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
_alembic = threading.Lock()
"""Held while Alembic runs: what runs is in globals of its modules, so one process does one migration at a time."""


def migrate(target: Target, *, locks_s: float = LOCKS_S) -> str:
    """Brings the database to the newest revision and returns its name. Safe to run again, and by processes or threads at once.

    A schema of a later release is left as it is when this code may still run on it, so that going back to it can be deployed.
    It can run while others are served: when it does not get a lock within `LOCK_WAIT_S`, it lets go of all that it has done and
    begins anew a little later, for `locks_s` in all.

    `target` logs in as a user that may make roles and extensions; all objects are made as the owner role. Raises
    Unavailable, NotMigrated when another version's schema is there, BadSetting when the login may not do that, Overloaded when it
    never got its locks, or TributaryError with the database's own words when it refuses a statement.
    """
    from alembic.util.exc import CommandError

    try:
        with connect(target) as connection:
            connection.execute("SELECT 1")  # a refused connection is told in our words, before Alembic has its say
        until = time.monotonic() + locks_s
        while not _upgraded(target, last_try=time.monotonic() >= until):
            time.sleep(_BETWEEN_TRIES_S)
    except psycopg.Error as error:
        raise _refused(error, target) from error
    except CommandError as error:
        if (later := _later_that_serves(target)) is not None:
            return later
        raise NotMigrated(OTHER_VERSION) from error
    return head()


def _upgraded(target: Target, *, last_try: bool) -> bool:
    """Runs what is to be run in one transaction; tells whether it was, or raises, the last time, what was in the way."""
    from alembic import command
    from sqlalchemy import create_engine, pool
    from sqlalchemy.exc import DBAPIError

    engine = create_engine("postgresql+psycopg://", creator=lambda: connect(target, autocommit=False), poolclass=pool.NullPool)
    try:
        with engine.begin() as transaction:
            driver = _driver(transaction.connection.driver_connection)
            driver.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # however long another migration takes
            driver.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT_S}s'".encode())
            driver.execute(_sql("0000_bootstrap.sql"))
            driver.execute(f"SET LOCAL ROLE {OWNER}")
            configuration = _configuration()
            configuration.attributes["connection"] = transaction
            with _alembic:
                command.upgrade(configuration, "head")
    except (psycopg.Error, DBAPIError) as error:
        said = error.orig if isinstance(error, DBAPIError) else error  # what Alembic itself asks goes by SQLAlchemy
        if isinstance(said, _IN_THE_WAY) and not last_try:
            return False
        if isinstance(said, psycopg.Error):
            raise said from None
        raise
    return True


def _later_that_serves(target: Target) -> str | None:
    """Returns the revision of a schema that is newer than this code and serves it. Raises NotMigrated, CodeTooOld."""
    with connect(target) as connection:
        row = connection.execute(statement("access", "revision")).fetchone()
    if row is None:
        return None
    check_revision(str(row[0]))
    check_level(int(row[1]))
    return str(row[0])


def migration_sql() -> str:
    """Returns all that `migrate` would run on an empty database, as one SQL script."""
    from alembic import command

    written = io.StringIO()
    configuration = _configuration()
    configuration.output_buffer = written
    with _alembic:
        command.upgrade(configuration, "head", sql=True)
    bootstrap = _sql("0000_bootstrap.sql").decode()
    return f"{bootstrap}\nSET ROLE {OWNER};\n\n{written.getvalue()}\nRESET ROLE;\n"


def head() -> str:
    """Returns the newest revision that this code knows."""
    from alembic.script import ScriptDirectory

    return str(ScriptDirectory.from_config(_configuration()).get_current_head())


def run_sql(revision: str) -> None:
    """Runs the files of a revision's folder in order of name; for Alembic's revisions only."""
    from alembic import context, op

    folder = _migrations() / revision
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        if context.is_offline_mode():
            context.get_context().impl.static_output(f"-- {revision}/{path.name}\n{text}")
        else:
            # straight to the driver: SQLAlchemy would read ':name' and '%' in it as its own
            _driver(op.get_bind().connection.driver_connection).execute(text)


def _driver(connection: object) -> psycopg.Connection:
    if not isinstance(connection, psycopg.Connection):
        raise TypeError(f"migrations run over psycopg, not {type(connection).__name__}")
    return connection


def _configuration() -> Config:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(files("tributary.store").joinpath("alembic")))
    configuration.set_main_option("path_separator", "os")
    return configuration


def _migrations() -> Path:
    return Path(str(files("tributary.store").joinpath("sql", "migrations")))


def _sql(name: str) -> bytes:
    return (_migrations() / name).read_bytes()


def _refused(error: psycopg.Error, target: Target) -> TributaryError:
    said = str(error).splitlines()[0]
    if failures.lost_connection(error) or error.sqlstate in {"28P01", "28000", "3D000"}:
        return Unavailable(f"the database cannot be reached to migrate it: {said}")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        login = psycopg.conninfo.conninfo_to_dict(target.url).get("user") or "the login"
        return BadSetting(
            f"{target.setting or 'the URL of the database'}: its login may not do what this migration needs, and nothing was"
            f" changed: {said}. The first one of a cluster needs CREATEROLE. Where another login made the roles, have that"
            f' one, or a superuser, run: GRANT {OWNER} TO "{login}"'
        )
    if isinstance(error, _IN_THE_WAY):
        return Overloaded(
            "the migration did not get a lock that others hold, and nothing was changed; end the long transactions"
            f" (pg_stat_activity), then migrate again: {said}"
        )
    return TributaryError(f"the migration was refused and nothing was changed: {said}")
