"""Collects what the models of a run were asked for, and tells when it has cost enough."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from evals.answers import Answers
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


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What the calls of one model for one purpose came to. Tokens and cost are those that providers and prices tell of."""

    purpose: str
    model: str
    spent: Spent
    input_tokens: int
    output_tokens: int


class Purse:
    """An account for a run. Thread-safe. `most_usd` None is without a bound. `answers` tells which models answered at all."""

    def __init__(self, most_usd: Decimal | None = None) -> None:
        self._most_usd = most_usd
        self.answers = Answers()
        self._calls: list[ModelCall] = []
        self._lock = threading.Lock()

    def charge(self, call: ModelCall) -> None:
        with self._lock:
            self._calls.append(call)

    def may_spend(self) -> bool:
        return self._most_usd is None or self.spent().cost_usd < self._most_usd

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls if self.may_spend() else 0)

    def decided(self, decision_id: UUID | None) -> None: ...

    def spent(self) -> Spent:
        return _spent(self._charged())

    def bills(self) -> tuple[Bill, ...]:
        """Returns what each model came to for each purpose, the most expensive first."""
        of: dict[tuple[str, str], list[ModelCall]] = {}
        for call in self._charged():
            of.setdefault((call.purpose.value, call.model), []).append(call)
        bills = [_bill(purpose, model, calls) for (purpose, model), calls in of.items()]
        return tuple(sorted(bills, key=lambda one: (-one.spent.cost_usd, one.purpose, one.model)))

    def _charged(self) -> tuple[ModelCall, ...]:
        with self._lock:
            return tuple(self._calls)


def _bill(purpose: str, model: str, calls: Sequence[ModelCall]) -> Bill:
    return Bill(
        purpose=purpose,
        model=model,
        spent=_spent(calls),
        input_tokens=sum(call.input_tokens or 0 for call in calls),
        output_tokens=sum(call.output_tokens or 0 for call in calls),
    )


def _spent(calls: Sequence[ModelCall]) -> Spent:
    return Spent(
        calls=len(calls),
        failed=sum(call.end is not CallEnd.ANSWERED for call in calls),
        unpriced=sum(call.cost_usd is None for call in calls),
        cost_usd=sum((call.cost_usd for call in calls if call.cost_usd is not None), Decimal(0)),
    )
