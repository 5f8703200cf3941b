"""Where driver errors become ours: by SQLSTATE, never by message text.

The functions of the schema raise SQLSTATEs of their own, class TB.
"""

from __future__ import annotations

import psycopg

from tributary.core.errors import (
    Corrupt,
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    NotFound,
    NotMigrated,
    Overloaded,
    RateLimited,
    TributaryError,
    Unavailable,
    WrongStanding,
)
from tributary.store.patience import NoAnswer

_READ_ONLY = "25006"
_RETRIED = frozenset({"40001", "40P01"})
_GONE_CLASSES = ("08", "57P", "53", _READ_ONLY, "58")
_NOT_MIGRATED = frozenset({"42883", "42P01", "3F000", "42703"})


def worth_retrying(error: psycopg.Error) -> bool:
    """Tells whether the same call may succeed at once: the connection was lost, or the server asked for another try.

    A server that did not answer for the whole of a time-out is not tried again: the caller's time is spent.
    """
    if isinstance(error, psycopg.errors.ConnectionTimeout | NoAnswer):
        return False
    return error.sqlstate in _RETRIED or lost_connection(error)


def lost_connection(error: psycopg.Error) -> bool:
    """Tells whether the connection leads nowhere any more, or to where nothing can be written: a server that is a replica by now.

    After a failover the writer's address may lead to the old one for a while, and a connection that was opened then would
    be refused for ever.
    """
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith(("08", "57P")) or error.sqlstate == _READ_ONLY


def sqlstate_of(error: TributaryError) -> str | None:
    """Returns what the database said by code, where that is what `error` came of."""
    return error.__cause__.sqlstate if isinstance(error.__cause__, psycopg.Error) else None


def translate(error: psycopg.Error) -> TributaryError:  # noqa: PLR0911  (a table, written as one)
    """Returns the error of ours that `error` stands for."""
    state = error.sqlstate
    said = (error.diag.message_primary or "") if state and state.startswith("TB") else ""
    match state:
        case "TB403":
            return Forbidden(said)
        case "TB404":
            return NotFound()
        case "TB409":
            return IdempotencyConflict()
        case "TB410":
            return WrongStanding(said)
        case "TB422":
            return InvalidRequest(error.diag.column_name or "as_of", said)
        case "TB429":
            return RateLimited(said, retry_after_s=int(error.diag.message_detail or 1))
        case "57014" | "55P03" | "40001" | "40P01":
            return Overloaded()
    if state in _NOT_MIGRATED:
        return NotMigrated()
    if state is None or state.startswith(_GONE_CLASSES) or state in {"28P01", "28000", "3D000"}:
        return Unavailable()
    return Corrupt(f"the database refused a write (SQLSTATE {state}); nothing was changed")
