"""A tribe's turn to be settled: one settler at a time asks the models, and one that died is waited for until its turn is over."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self, cast
from uuid import UUID

from tributary.core.errors import Unavailable
from tributary.core.ids import new_id
from tributary.store import Database, statement

LEASE_S = 30.0
"""A settler without a deadline takes the turn for so long, again and again: it may have much to do, and may die meanwhile."""
_SHORTEST_S, _LONGEST_S = 1.0, 900.0


class Turn:
    """The turn of one settler. It keeps nobody from committing: it only keeps others from asking the same of the models."""

    def __init__(self, database: Database, tribe_id: UUID, *, share_s: float | None) -> None:
        self._database = database
        self._tribe_id = tribe_id
        self._holder = new_id()
        self._for_s = LEASE_S if share_s is None else min(max(share_s, _SHORTEST_S), _LONGEST_S)
        self._since = 0.0

    def take(self) -> bool | None:
        """Takes the turn, or takes it anew: False while another settler has it, None when nothing is pending."""
        self._since = time.monotonic()
        parameters = {"tribe_id": self._tribe_id, "holder": self._holder, "seconds": self._for_s}
        return cast("bool | None", self._database.value(statement("learn", "take_turn"), parameters))

    def keep(self) -> bool:
        """Tells whether the turn is still this settler's; it is taken anew when half of its time is over."""
        return time.monotonic() - self._since < self._for_s / 2 or self.take() is not False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not isinstance(error, Unavailable):  # a lost database would be waited for once more; the turn ends by itself
            self._database.value(statement("learn", "end_turn"), {"tribe_id": self._tribe_id, "holder": self._holder})
