"""The first step of every write: whether it was answered before, and whether its agent and tribe may write that much."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.core.errors import InvalidRequest
from tributary.core.ids import new_id
from tributary.core.limits import IDEMPOTENCY_KEY_CHARACTERS
from tributary.store import Database, rows, statement

SERVER_KEY = "server:"
"""Begins the keys that the server makes; callers may not."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How much may be written: by one agent in a minute (as many may come at once), and by one tribe on a day (UTC)."""

    writes_per_minute: int
    writes_per_day: int


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """`replay` is the document of the first reply, when this key and request were seen before."""

    key: str
    digest: bytes
    replay: rows.Document | None


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Lets writes in, before any model is asked about them. Fails closed: a write that cannot be counted is refused."""

    database: Database
    pace: Pace
    now: Now = utc_now

    def admit(
        self,
        principal: Principal,
        operation: str,
        content: Mapping[str, object],
        key: str | None,
        *,
        past_the_day: bool = False,
    ) -> Admitted:
        """Returns the key and digest of a request that may go on, with its first reply if it was answered before.

        Without a key of the caller's the server makes one, so that a commit whose reply was lost on the way is found again.
        `past_the_day` lets it through though the tribe's day is full.
        Raises InvalidRequest for a key that is none, IdempotencyConflict, and RateLimited with the seconds to wait.
        """
        check_key(key)
        digest = request_digest(operation, content)
        found = self.database.value(
            statement("access", "admit"),
            {
                "tribe_id": principal.tribe_id,
                "agent_id": principal.agent_id,
                "key": key,
                "digest": digest,
                "operation": operation,
                "per_minute": self.pace.writes_per_minute,
                "per_day": None if past_the_day else self.pace.writes_per_day,
                # the database's clock, so that a host whose own is wrong locks nobody out
                "now": None if self.now is utc_now else self.now(),
            },
        )
        made = key or f"{SERVER_KEY}{new_id().hex}"
        return Admitted(key=made, digest=digest, replay=None if found is None else rows.document(found))


def check_key(key: str | None) -> None:
    """Raises InvalidRequest for an idempotency key that is none."""
    if key is None:
        return
    if not (key.strip() and key.isprintable() and len(key) <= IDEMPOTENCY_KEY_CHARACTERS) or key.startswith(SERVER_KEY):
        raise InvalidRequest(
            "Idempotency-Key",
            f"must be 1 to {IDEMPOTENCY_KEY_CHARACTERS} printable characters, not blank, and not begin with '{SERVER_KEY}'",
        )


def request_digest(operation: str, content: Mapping[str, object]) -> bytes:
    """Returns the SHA-256 (32 bytes) by which a repeated key's request is told from another."""
    return hashlib.sha256(json.dumps([operation, content], sort_keys=True, default=str).encode()).digest()
