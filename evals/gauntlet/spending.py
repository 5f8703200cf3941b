"""What the language models of agents came to, in words."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from evals.gauntlet.results import AgentReport, SpentReport


def total(agents: Iterable[AgentReport]) -> SpentReport | None:
    """Returns what all of them spent together, None where no model was asked; without a cost where one call had no price."""
    spent = [agent.spent for agent in agents if agent.spent is not None]
    if not spent:
        return None
    costs = [Decimal(one.cost_usd) for one in spent if one.cost_usd is not None]
    return SpentReport(
        calls=sum(one.calls for one in spent),
        failed=sum(one.failed for one in spent),
        input_tokens=sum(one.input_tokens for one in spent),
        output_tokens=sum(one.output_tokens for one in spent),
        cost_usd=str(sum(costs, Decimal(0))) if len(costs) == len(spent) else None,
    )


def said(spent: SpentReport) -> str:
    """Returns calls, tokens and cost in a few words."""
    cost = "cost unknown" if spent.cost_usd is None else f"{Decimal(spent.cost_usd):.4f} US dollars"
    return f"{spent.calls:,} calls, {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out, {cost}"


def spent_line(agents: Iterable[AgentReport]) -> str:
    """Returns a line on what their language model came to, empty where none was asked."""
    spent = total(agents)
    return "" if spent is None else f"The language model: {said(spent)}"
