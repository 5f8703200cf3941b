"""Bearer tokens: 256 random bits, known to the database by their SHA-256 alone.

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
from tributary.core.errors import Unauthenticated
from tributary.store import Reading, rows, statement

_SHAPE = re.compile(r"trb_[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """Returns a new secret; it starts with `trb_`, so that scanners for leaked secrets can know it."""
    return "trb_" + secrets.token_urlsafe(32)


def token_hash(secret: str) -> bytes:
    """Returns the 32 bytes under which a token is stored. A fast hash will do: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


def authenticate(database: Reading, secret: str) -> Principal:
    """Returns the agent behind a token; raises Unauthenticated when it is unknown, expired or revoked.

    The database notes when the token was last used, to the minute, unless it is a read replica.
    """
    if not _SHAPE.fullmatch(secret):
        raise Unauthenticated("the token is not one of this system's; it starts with 'trb_'")
    found = database.value(statement("access", "authenticate"), {"token_hash": token_hash(secret)})
    if found is None:
        raise Unauthenticated("the token is unknown, expired or revoked")
    row = rows.document(found)
    return Principal(tribe_id=UUID(row["tribe_id"]), agent_id=UUID(row["agent_id"]), name=row["name"], role=Role(row["role"]))
