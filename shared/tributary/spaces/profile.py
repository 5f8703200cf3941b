"""What a process keeps of a tribe between requests."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from tributary.core.errors import BadSetting
from tributary.core.ports import Embedder
from tributary.store import Reading, check_level, rows, statement


@dataclass(frozen=True, kw_only=True)
class TribeProfile:
    """The key of the tribe's content hashes, and the space that it serves from."""

    secret: bytes
    space_id: int


class Profiles:
    """Profiles by tribe, read once a process; refuses a tribe that serves from another space than the embedder's."""

    def __init__(self, database: Reading, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._known: dict[UUID, TribeProfile] = {}
        self._lock = threading.Lock()

    def get(self, tribe_id: UUID) -> TribeProfile:
        """Returns the tribe's profile; raises NotFound, CodeTooOld, or BadSetting when its vectors are of another space."""
        with self._lock:
            known = self._known.get(tribe_id)
        if known is not None:
            return known
        row = rows.document(self._database.value(statement("spaces", "profile"), {"tribe_id": tribe_id}))
        check_level(row["oldest_code"])
        wanted = self._embedder.space.name
        if row["space"] != wanted:
            raise BadSetting(
                f"TRIBUTARY_EMBEDDER: this tribe serves from the embedding space '{row['space']}', but the embedder set up here "
                f"gives '{wanted}'; set the one that the tribe serves from"
            )
        profile = TribeProfile(secret=bytes.fromhex(row["secret"]), space_id=row["space_id"])
        with self._lock:
            self._known[tribe_id] = profile
        return profile

    def forget(self, tribe_id: UUID) -> None:
        """Makes the next `get` read again, after the tribe was found to serve from elsewhere."""
        with self._lock:
            self._known.pop(tribe_id, None)
