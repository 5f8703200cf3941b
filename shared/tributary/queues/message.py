"""What a message of the pending queue says: which tribe, and in which cell it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

_NAMES = frozenset({"tribe_id", "cell"})


@dataclass(frozen=True, kw_only=True)
class PendingMessage:
    """A tribe that has pending lessons. `cell` is None for the home cell."""

    tribe_id: UUID
    cell: str | None = None

    def body(self) -> str:
        return json.dumps({"tribe_id": str(self.tribe_id), "cell": self.cell})

    @classmethod
    def read(cls, body: object) -> PendingMessage:
        """Returns what `body` says; raises ValueError when it is no message of ours."""
        found = json.loads(body) if isinstance(body, str) else None
        if not isinstance(found, dict) or found.keys() != _NAMES:
            raise ValueError("a message is a JSON object of tribe_id and cell")
        tribe_id, cell = found["tribe_id"], found["cell"]
        if not isinstance(tribe_id, str) or not (cell is None or isinstance(cell, str)):
            raise ValueError("tribe_id is a UUID, cell a name or null")
        return cls(tribe_id=UUID(tribe_id), cell=cell)
