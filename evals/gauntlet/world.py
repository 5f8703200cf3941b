"""The simulated operations world: one service to build, configure, deploy and roll out, and four traps in the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from evals.gauntlet.names import AREAS, ROLES, WORDINGS, Draw
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

RUNBOOK = """Runbook of {{service}}
1. {build}: `build {{service}}`
2. {configure}: `{{set_address}}`, then check with `config check {{service}}`
3. {deploy}: `deploy {{service}}`
4. {roll_out}: `rollout {{service}}`"""


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

    def __init__(self, names: Names, *, wording: int = 0) -> None:
        """`wording` chooses the words in which the runbook puts its goals; the commands are the same in all."""
        self._names = names
        self._runbook = RUNBOOK.format(**WORDINGS[wording % len(WORDINGS)])
        self._linker = Linker(names.service, names.linker)
        self._key = DeprecatedKey(names.service, names.key)
        self._quota = Quota(names.service, names.quota)
        self._migration = Migration(names.service, names.migration)
        self._traps = (self._linker, self._key, self._quota, self._migration)
        self.steps = 0

    @property
    def task(self) -> str:
        """What whoever hands the work over says."""
        service = self._names.service
        return f"Take the service {service} through its runbook until it is rolled out: build, configure, deploy, roll out."

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
            return succeeded(command, self._runbook.format(service=service, set_address=set_address))
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


def estate_of(seed: int, services: int) -> tuple[Names, ...]:
    """Returns the worlds of that many services on one platform.

    They share builder and deploy API, and thus cache and header; config keys and migrations are each service's own.
    """
    platform = Names.of_seed(seed)
    made: dict[str, Names] = {}
    for other in count(seed * 1000 + 1):
        own = Names.of_seed(other)
        made.setdefault(own.service, replace(own, linker=platform.linker, quota=platform.quota))
        if len(made) == services:
            return tuple(made.values())
    raise AssertionError("count() does not end")


def stranger_of(seed: int) -> int:
    """Returns the next seed whose world can teach nothing about this one: its cures are no names here at all."""
    here = Names.of_seed(seed)
    for other in count(seed + 1):
        there = Names.of_seed(other)
        if there.service != here.service and not there.secrets & here.all:
            return other
    raise AssertionError("count() does not end")
