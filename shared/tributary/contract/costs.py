"""What calls of models cost a tribe."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from tributary.contract.models import Reply

By = Literal["day", "purpose", "model", "agent"]


class CostReply(Reply):
    """Calls of models, added up."""

    key: str = Field(description="The day, the purpose, the model, or the agent's id; empty for the gardener and the operator.")
    name: str | None = Field(description="The agent's name.")
    calls: int
    failed: int = Field(description="Those of them that gave no answer.")
    unpriced: int = Field(description="Those of them that may have cost something that no sum holds, for want of a price.")
    input_tokens: int
    output_tokens: int
    cost_usd: float


class BudgetReply(Reply):
    """How much of today's budget (UTC) is used; past it the strong judge is skipped, and learning goes on."""

    calls_per_day: int | None = Field(description="Null is no limit.")
    usd_per_day: float | None = Field(description="Null is no limit. A call without a known price counts as a call only.")
    calls_today: int
    usd_today: float
    spent: bool


class CostsReply(Reply):
    """What calls of models cost from one day to another, both included (UTC)."""

    since: date
    until: date
    by: By
    rows: list[CostReply] = Field(description="The dearest first; days in their order.")
    total: CostReply
    unpriced_models: list[str] = Field(description="Models of which calls have no known price.")
    budget: BudgetReply
