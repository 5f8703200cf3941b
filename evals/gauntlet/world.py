"""The simulated operations world: one service to build, configure, deploy and roll out, and four traps in the way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from evals.gauntlet.names import AREAS, ROLES, Draw
from evals.gauntlet.terminal import Command, Observation, failed, succeeded
from evals.gauntlet.traps import (
    DeprecatedKey,
    DeprecatedKeyNames,
    Linker,
    LinkerNames,
    Migration,
    MigrationNames,
    Quota,
    QuotaNames,
)

RUNBOOK = """Runbook of {service}
1. Build the service {service}: `build {service}`
2. Configure the database address of {service}: `{set_address}`, then check with `config check {service}`
3. Deploy the service {service}: `deploy {service}`
4. Roll out the service {service}: `rollout {service}`"""


@dataclass(frozen=True, kw_only=True)
class Names:
    """Every name and value of one world."""

    service: str
    linker: LinkerNames
    key: DeprecatedKeyNames
    quota: QuotaNames
    migration: MigrationNames

    @classmethod
    def of_seed(cls, seed: int) -> Names:
        draw = Draw(seed)
        area = draw.one(AREAS)
        return cls(
            service=f"{area}-{draw.one(ROLES)}",
            linker=LinkerNames.draw(draw),
            key=DeprecatedKeyNames.draw(draw, area=area),
            quota=QuotaNames.draw(draw),
            migration=MigrationNames.draw(draw),
        )

    @property
    def secrets(self) -> frozenset[str]:
        """What cures the traps: a lesson is worth having for these."""
        return self.linker.secrets | self.key.secrets | self.quota.secrets | self.migration.secrets

    @property
    def all(self) -> frozenset[str]:
        return frozenset({self.service}) | self.linker.all | self.key.all | self.quota.all | self.migration.all


class World:
    """Answers commands, counts them, and remembers which traps have snapped. The same names always behave the same."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._linker = Linker(names.service, names.linker)
        self._key = DeprecatedKey(names.service, names.key)
        self._quota = Quota(names.service, names.quota)
        self._migration = Migration(names.service, names.migration)
        self._traps = (self._linker, self._key, self._quota, self._migration)
        self.steps = 0

    @property
    def traps_hit(self) -> tuple[str, ...]:
        return tuple(trap.name for trap in self._traps if trap.hit)

    @property
    def done(self) -> bool:
        """Tells whether the task is: the service is rolled out."""
        return self._migration.rolled_out

    def run(self, command: Command, /) -> Observation:
        """Returns what `command` comes to; one step, whatever it is."""
        self.steps += 1
        if command.words == ("runbook",):
            service, key = self._names.service, self._names.key
            set_address = Command.of("config", "set", service, key.old, key.value)
            return succeeded(command, RUNBOOK.format(service=service, set_address=set_address))
        missing = self._missing_before(command.tool)
        if missing is not None:
            return failed(command, missing)
        for trap in self._traps:
            if command.tool in trap.tools:
                return trap.run(command)
        tools = sorted({"runbook"}.union(*(trap.tools for trap in self._traps)))
        return failed(command, f"there is no command {command.tool}; there are {', '.join(tools)}", exit_code=127)

    def _missing_before(self, tool: str) -> str | None:
        if tool == "deploy" and not self._linker.built:
            return "nothing to deploy: build it first"
        if tool == "rollout" and not self._quota.deployed:
            return "nothing to roll out: deploy it first"
        if tool == "rollout" and not self._key.configured:
            return 'health check failed: cannot connect to "": the database address is empty; rolled back'
        return None


def stranger_of(seed: int) -> int:
    """Returns the next seed whose world can teach nothing about this one: its cures are no names here at all."""
    here = Names.of_seed(seed)
    for other in count(seed + 1):
        there = Names.of_seed(other)
        if there.service != here.service and not there.secrets & here.all:
            return other
    raise AssertionError("count() does not end")
