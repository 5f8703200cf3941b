"""What the memory says of itself, for tests of the HTTP edge."""

from __future__ import annotations

from datetime import UTC, datetime

from tributary.core.agent import Principal, Role
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
        Observation.unknown(About.TRIBE, "last_gardening", Unseen.NOT_RECORDED),
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
