"""What one turn costs, added up on the way to the tribe's account."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from decimal import Decimal
from uuid import UUID

from tributary.core.spending import Account, ModelCall


class Tally:
    """Hands every charge on, and knows the sum. Calls without a price count as nothing."""

    def __init__(self, outer: Account) -> None:
        self._outer = outer
        self._lock = threading.Lock()
        self._usd = Decimal(0)

    @property
    def usd(self) -> Decimal:
        return self._usd

    def charge(self, call: ModelCall) -> None:
        with self._lock:
            self._usd += call.cost_usd or Decimal(0)
        self._outer.charge(call)

    def may_spend(self) -> bool:
        return self._outer.may_spend()

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return self._outer.reserve(calls)

    def decided(self, decision_id: UUID | None) -> None:
        self._outer.decided(decision_id)
