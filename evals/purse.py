"""Collects what the models of a run were asked for, and tells when it has cost enough."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from tributary.core.spending import CallEnd, ModelCall


@dataclass(frozen=True, kw_only=True)
class Spent:
    """`unpriced` counts calls whose price nobody knew; `cost_usd` leaves them out."""

    calls: int
    failed: int
    unpriced: int
    cost_usd: Decimal

    def since(self, before: Spent) -> Spent:
        return Spent(
            calls=self.calls - before.calls,
            failed=self.failed - before.failed,
            unpriced=self.unpriced - before.unpriced,
            cost_usd=self.cost_usd - before.cost_usd,
        )


class Purse:
    """An account for a run. Thread-safe. `most_usd` None is without a bound."""

    def __init__(self, most_usd: Decimal | None = None) -> None:
        self._most_usd = most_usd
        self._calls: list[ModelCall] = []
        self._lock = threading.Lock()

    def charge(self, call: ModelCall) -> None:
        with self._lock:
            self._calls.append(call)

    def may_spend(self) -> bool:
        return self._most_usd is None or self.spent().cost_usd < self._most_usd

    def decided(self, decision_id: UUID | None) -> None: ...

    def spent(self) -> Spent:
        with self._lock:
            calls = tuple(self._calls)
        return Spent(
            calls=len(calls),
            failed=sum(call.end is not CallEnd.ANSWERED for call in calls),
            unpriced=sum(call.cost_usd is None for call in calls),
            cost_usd=sum((call.cost_usd for call in calls if call.cost_usd is not None), Decimal(0)),
        )
