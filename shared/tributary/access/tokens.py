"""Bearer tokens: 256 random bits, known to the database by their SHA-256 alone."""

from __future__ import annotations

import hashlib
import re
import secrets
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.errors import Unauthenticated
from tributary.store import Database, rows, statement

_SHAPE = re.compile(r"trb_[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """Returns a new secret; it starts with `trb_`, so that scanners for leaked secrets can know it."""
    return "trb_" + secrets.token_urlsafe(32)


def token_hash(secret: str) -> bytes:
    """Returns the 32 bytes under which a token is stored. A fast hash will do: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


def authenticate(database: Database, secret: str) -> Principal:
    """Returns the agent behind a token; raises Unauthenticated when it is unknown, expired or revoked.

    The look-up is by hash in an index: timing tells of the hash of what was sent, nothing of a stored secret.
    """
    if not _SHAPE.fullmatch(secret):
        raise Unauthenticated("the token is not one of this system's; it starts with 'trb_'")
    found = database.value(statement("access", "authenticate"), {"token_hash": token_hash(secret)})
    if found is None:
        raise Unauthenticated("the token is unknown, expired or revoked")
    row = rows.document(found)
    return Principal(tribe_id=UUID(row["tribe_id"]), agent_id=UUID(row["agent_id"]), name=row["name"], role=Role(row["role"]))
