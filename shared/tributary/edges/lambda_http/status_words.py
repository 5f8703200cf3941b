"""From the core's words about the memory itself to the contract's models."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from tributary.contract import costs as cost_contract
from tributary.contract import status as contract
from tributary.core import ids
from tributary.core.agent import Principal
from tributary.core.costs import By, Cost, Costs
from tributary.core.garden import Gardening
from tributary.core.stats import Calls, Stats
from tributary.core.status import PATHS, Observation, Status


def me(one: Principal) -> contract.MeReply:
    return contract.MeReply(
        tribe=str(one.tribe_id), agent=ids.show(ids.Prefix.AGENT, one.agent_id), name=one.name, role=one.role.value
    )


def stats(one: Stats) -> contract.StatsReply:
    agents = None
    if one.by_agent is not None:
        agents = [
            contract.AgentCallsReply(agent=ids.show(ids.Prefix.AGENT, who.agent_id), name=who.name, calls=_calls(who.calls))
            for who in one.by_agent
        ]
    return contract.StatsReply(
        tick=one.tick,
        at=one.at,
        lessons=dict(one.lessons),
        open_disputes=one.disputes,
        open_challenges=one.challenges,
        spaces=[contract.SpaceVectorsReply(space=space.space, state=space.state, vectors=space.vectors) for space in one.spaces],
        agents=dict(one.agents),
        calls=_calls(one.calls),
        by_agent=agents,
    )


def status(one: Status) -> contract.StatusReply:
    return contract.StatusReply(
        usable=one.usable,
        paths=[contract.PathReply(path=path.value, usable=path in one.usable_paths) for path in PATHS],
        observations=[observation(seen) for seen in one.observations],
        gardening=None if one.gardening is None else _gardening(one.gardening),
    )


def observation(seen: Observation) -> contract.ObservationReply:
    return contract.ObservationReply(
        about=seen.about.value,
        check=seen.check,
        state=seen.state.value,
        value=list(seen.value) if isinstance(seen.value, tuple) else seen.value,
        rule=seen.rule,
        cause=None if seen.cause is None else seen.cause.value,
    )


def _gardening(one: Gardening) -> contract.GardeningReply:
    return contract.GardeningReply(
        began_at=one.began_at,
        ended_at=one.ended_at,
        failed=one.failed,
        rules=[
            contract.GardenRuleReply(
                rule=rule.rule.value, done=rule.done, left=rule.left, refused=dict(rule.refused), failed=rule.failed
            )
            for rule in one.rules
        ],
    )


def costs(one: Costs) -> cost_contract.CostsReply:
    budget, today = one.budget, one.today
    return cost_contract.CostsReply(
        since=one.since,
        until=one.until,
        by=one.by.value,
        rows=[_cost(row, by=one.by) for row in one.rows],
        total=_cost(one.total, by=None),
        unpriced_models=list(one.unpriced_models),
        budget=cost_contract.BudgetReply(
            calls_per_day=budget.calls_per_day,
            usd_per_day=None if budget.usd_per_day is None else float(budget.usd_per_day),
            calls_today=today.calls,
            usd_today=float(today.cost_usd),
            spent=not budget.allows(today),
        ),
    )


def _cost(one: Cost, *, by: By | None) -> cost_contract.CostReply:
    return cost_contract.CostReply(
        key=ids.show(ids.Prefix.AGENT, UUID(one.key)) if by is By.AGENT and one.key else one.key,
        name=one.name,
        calls=one.calls,
        failed=one.failed,
        unpriced=one.unpriced,
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
        cost_usd=float(one.cost_usd),
    )


def _calls(calls: Iterable[Calls]) -> contract.CallsReply:
    counted = tuple(calls)
    return contract.CallsReply(
        today={one.operation: one.today for one in counted if one.today},
        last_7_days={one.operation: one.last_7_days for one in counted},
    )
