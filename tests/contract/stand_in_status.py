"""What the memory says of itself, for tests of the HTTP edge."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from tributary.core.agent import Principal, Role
from tributary.core.costs import Budget, By, Cost, Costs, Spent
from tributary.core.garden import Gardening, Rule, RuleReport
from tributary.core.receipt import SearchPath
from tributary.core.stats import AgentCalls, Calls, SpaceVectors, Stats
from tributary.core.status import About, Observation, Status, Unseen

CALLS = (Calls(operation="learn", today=0, last_7_days=3), Calls(operation="recall", today=2, last_7_days=9))

STATUS = Status(
    usable_paths=(SearchPath.VECTOR_EXACT, SearchPath.TERMS),
    observations=(
        Observation.of(About.WRITER, "server_version", "18.4", rule="PostgreSQL 15 or newer"),
        Observation.of(
            About.TRIBE, "without_vector", 2, ok=False, rule="every believed lesson has a vector in the serving space"
        ),
        Observation.of(About.TRIBE, "spaces", ("a: serving", "b: building")),
        Observation.unknown(About.TRIBE, "planned_with", Unseen.TIMED_OUT),
        Observation.of(About.TRIBE, "last_gardening", "2026-03-01T11:50:00+00:00", rule="at most 2 hours ago"),
        Observation.of(About.TRIBE, "gardening_failed", ("evict: timed_out",), ok=False),
    ),
    gardening=Gardening(
        began_at=datetime(2026, 3, 1, 11, 49, tzinfo=UTC),
        ended_at=datetime(2026, 3, 1, 11, 50, tzinfo=UTC),
        rules=(
            RuleReport(rule=Rule.STAMP, done=2),
            RuleReport(rule=Rule.EVICT, left=3, refused={"in_grace": 3}, failed="timed_out"),
        ),
    ),
)


def stats_of(principal: Principal) -> Stats:
    """Returns some counters, those of each agent to a curator only."""
    return Stats(
        tick=418,
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        lessons={"active": 57, "superseded": 3},
        disputes=1,
        challenges=2,
        spaces=(SpaceVectors(space="a", state="serving", vectors=57),),
        agents={"curator": 1, "writer": 2},
        calls=CALLS,
        by_agent=(AgentCalls(agent_id=principal.agent_id, name=principal.name, calls=CALLS),)
        if principal.role is Role.CURATOR
        else None,
    )


def costs_of(principal: Principal, since: date | None, until: date | None, by: By) -> Costs:
    """Returns some costs, those of the caller and of nobody when they are asked for by agent."""
    keys = {
        By.DAY: ("2026-03-01",),
        By.PURPOSE: ("judge",),
        By.MODEL: ("openai:gpt-5-mini",),
        By.AGENT: (str(principal.agent_id), ""),
    }[by]
    rows = tuple(_cost(key, principal.name if by is By.AGENT and key else None) for key in keys)
    return Costs(
        since=since or date(2026, 2, 1),
        until=until or date(2026, 3, 1),
        by=by,
        rows=rows,
        total=_cost("total", None),
        unpriced_models=("openai:unheard-of",),
        budget=Budget(calls_per_day=100, usd_per_day=Decimal("2.5")),
        today=Spent(calls=12, cost_usd=Decimal("0.0375")),
    )


def _cost(key: str, name: str | None) -> Cost:
    return Cost(
        key=key,
        name=name,
        calls=12,
        failed=1,
        unpriced=2,
        input_tokens=30_000,
        output_tokens=900,
        cost_usd=Decimal("0.0375"),
    )
