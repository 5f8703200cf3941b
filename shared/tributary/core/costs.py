"""What calls of models cost a tribe, and how much of it a day may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from math import ceil


class By(StrEnum):
    """What costs are added up by."""

    DAY = "day"
    PURPOSE = "purpose"
    MODEL = "model"
    AGENT = "agent"


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was used on a day (UTC). `cost_usd` holds what prices are known of."""

    calls: int = 0
    cost_usd: Decimal = Decimal(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(calls=self.calls + other.calls, cost_usd=self.cost_usd + other.cost_usd)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(calls=self.calls - other.calls, cost_usd=self.cost_usd - other.cost_usd)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How many calls of models a tribe may make on a day (UTC), and what they may cost; None is no limit.

    A call without a known price counts as a call only.
    """

    calls_per_day: int | None = None
    usd_per_day: Decimal | None = None

    @property
    def bounded(self) -> bool:
        return self.calls_per_day is not None or self.usd_per_day is not None

    def allows(self, spent: Spent) -> bool:
        """Tells whether something is left after `spent`."""
        return self.grants(spent, most=1, usd_per_call=Decimal(0)) > 0

    def grants(self, spent: Spent, *, most: int, usd_per_call: Decimal) -> int:
        """Returns how many calls, up to `most`, what is left after `spent` is enough for; the last may cost more than is left."""
        granted = most
        if self.calls_per_day is not None:
            granted = min(granted, max(0, self.calls_per_day - spent.calls))
        if self.usd_per_day is not None:
            left_usd = self.usd_per_day - spent.cost_usd
            if left_usd <= 0:
                return 0
            if usd_per_call > 0:
                granted = min(granted, ceil(left_usd / usd_per_call))
        return granted


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Calls added up. `key` is the day, purpose, model or agent's id ('' is nobody: gardener and operator); `name` the agent's.

    `failed` of them gave no answer, and `unpriced` ones may have cost something that is in no sum.
    """

    key: str
    name: str | None
    calls: int
    failed: int
    unpriced: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a tribe's calls cost from one day to another, both included (UTC), and what was used of today's budget."""

    since: date
    until: date
    by: By
    rows: Sequence[Cost]
    total: Cost
    unpriced_models: Sequence[str]
    budget: Budget
    today: Spent
