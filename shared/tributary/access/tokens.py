"""Bearer tokens: 256 random bits, known to the database by their SHA-256 alone.

    trb_<secret>          of the home cell: the process's own database
    trb_<cell>_<secret>   of a named cell

A secret is 43 characters of url-safe base64, `_` and `-` among them, so the two forms are told apart by their length alone: a
name of n characters makes a token n + 1 longer. What is hashed is the whole token: with another cell's name it is another one.

No secret is compared with another, neither here nor in the database: what comes is hashed whole, and its hash is looked up
in a b-tree. How long that takes may tell how many leading bytes of the hash some stored one shares. But nobody can steer the
bytes of a hash other than by trying, and whoever knew a stored one whole would still not know what hashes to it. Nothing is
gained over guessing 256 bits, so the look-up need not take constant time.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.cells import CELL_NAME
from tributary.core.errors import Unauthenticated, UnknownCell
from tributary.store import Reading, rows, statement


def shape_of(prefix: str) -> re.Pattern[str]:
    """Returns the form of secrets that begin with `prefix`; its first group is the cell, if one is named."""
    return re.compile(rf"{prefix}(?:({CELL_NAME})_)?[A-Za-z0-9_-]{{43}}")


def new_secret(prefix: str, cell: str | None) -> str:
    """Returns a new secret of a cell, of the form `shape_of(prefix)`."""
    return (prefix if cell is None else f"{prefix}{cell}_") + secrets.token_urlsafe(32)


_PREFIX = "trb_"
_SHAPE = shape_of(_PREFIX)


def new_token(cell: str | None = None) -> str:
    """Returns a new secret of a cell; it starts with `trb_`, so that scanners for leaked secrets can know it."""
    return new_secret(_PREFIX, cell)


def cell_of(secret: str) -> str | None:
    """Returns the cell that a token names, None for the home cell; raises Unauthenticated for what cannot be a token."""
    shape = _SHAPE.fullmatch(secret)
    if shape is None:
        raise Unauthenticated("the token is not one of this system's; it starts with 'trb_'")
    return shape[1]


def token_hash(secret: str) -> bytes:
    """Returns the 32 bytes under which a token is stored. A fast hash will do: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


def authenticate(database: Reading, secret: str, *, cell: str | None = None) -> Principal:
    """Returns the agent behind a token; raises Unauthenticated when it is unknown, expired or revoked.

    `cell` is the name of the database. A token of another one is refused with UnknownCell, and the database is not asked; one
    without a name is looked up: it was made before the database had one. The database notes when the token was last used, to
    the minute, unless it is a read replica.
    """
    named = cell_of(secret)
    if named not in (None, cell):
        raise UnknownCell(named)
    found = database.value(statement("access", "authenticate"), {"token_hash": token_hash(secret)})
    if found is None:
        raise Unauthenticated("the token is unknown, expired or revoked")
    return principal_of(rows.document(found), cell=cell)


def principal_of(row: rows.Document, *, cell: str | None) -> Principal:
    """Returns the agent that the database let in, as one of `cell`."""
    return Principal(
        tribe_id=UUID(row["tribe_id"]), agent_id=UUID(row["agent_id"]), name=row["name"], role=Role(row["role"]), cell=cell
    )
