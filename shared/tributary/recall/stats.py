"""How a tribe stands and is used, in one read of its counters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.stats import AgentCalls, Calls, SpaceVectors, Stats
from tributary.store import Reading, rows, statement


@dataclass(frozen=True, kw_only=True)
class Statistician:
    """Reads counters; a replica will do."""

    database: Reading
    now: Now = utc_now

    def stats(self, principal: Principal) -> Stats:
        """Returns the tribe's counters; what each agent called only to a curator."""
        principal.require(Role.READER)
        who = {"tribe_id": principal.tribe_id, "agent_id": principal.agent_id}
        found = rows.document(self.database.value(statement("recall", "stats"), {**who, "now": self.now()}))
        return Stats(
            tick=found["tick"],
            at=rows.moment(found["at"]),
            lessons=found["lessons"],
            disputes=found["disputes"],
            challenges=found["challenges"],
            spaces=tuple(SpaceVectors(space=one["space"], state=one["state"], vectors=one["vectors"]) for one in found["spaces"]),
            agents=found["agents"],
            calls=_calls(found["calls"]),
            by_agent=None if found["by_agent"] is None else _by_agent(found["by_agent"]),
        )


def _calls(found: Iterable[rows.Document]) -> tuple[Calls, ...]:
    return tuple(Calls(operation=one["operation"], today=int(one["today"]), last_7_days=int(one["last_7_days"])) for one in found)


def _by_agent(found: Iterable[rows.Document]) -> tuple[AgentCalls, ...]:
    """Reads rows that come sorted by the agents' names, which are unique in a tribe."""
    return tuple(
        AgentCalls(agent_id=rows.uuid(agent_id), name=name, calls=_calls(calls))
        for (name, agent_id), calls in groupby(found, key=lambda one: (one["name"], one["agent_id"]))
    )
