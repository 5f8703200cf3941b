"""A rollout whose health check fails until one particular migration has run."""

from __future__ import annotations

from dataclasses import dataclass

from evals.gauntlet.names import MIGRATION_VERBS, PLACES, TABLE_OWNERS, TABLE_PARTS, Draw
from evals.gauntlet.terminal import Command, Observation, failed, succeeded

MIGRATIONS = 7


@dataclass(frozen=True, kw_only=True)
class MigrationNames:
    """`tables` maps each pending migration to the table that it adds; the new release needs that of `needed`."""

    tables: dict[str, str]
    needed: str
    host: str

    @classmethod
    def draw(cls, draw: Draw) -> MigrationNames:
        def migration() -> str:
            return f"{draw.number(100, 999):04}_{draw.one(MIGRATION_VERBS)}_{draw.one(PLACES)}"

        names = draw.distinct(MIGRATIONS, migration)
        tables = draw.distinct(MIGRATIONS, lambda: f"{draw.one(TABLE_OWNERS)}_{draw.one(TABLE_PARTS)}")
        host = f"{draw.one(PLACES)}-{draw.number(1, 40)}"
        return cls(tables=dict(zip(names, tables, strict=True)), needed=draw.one(names), host=host)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset({self.needed})

    @property
    def all(self) -> frozenset[str]:
        return frozenset({self.host, *self.tables, *self.tables.values()})


class Migration:
    """`rollout SERVICE`, `migrate list SERVICE`, `migrate show SERVICE NAME`, `migrate run SERVICE NAME`."""

    name = "migration"
    tools = frozenset({"rollout", "migrate"})

    def __init__(self, service: str, names: MigrationNames) -> None:
        self._service = service
        self._names = names
        self._applied: set[str] = set()
        self.rolled_out = False
        self.hit = False

    def run(self, command: Command) -> Observation:
        match command.words:
            case ("rollout", service) | ("migrate", _, service, *_) if service != self._service:
                return failed(command, f"there is no service {service}")
            case ("rollout", _):
                return self._roll_out(command)
            case ("migrate", "list", _):
                pending = (f"`{name}`" for name in self._names.tables if name not in self._applied)
                return succeeded(command, "\n".join((f"Migrations of {self._service} that wait:", *pending)))
            case ("migrate", "show" | "run", _, migration) if migration not in self._names.tables:
                return failed(command, f"there is no migration {migration}")
            case ("migrate", "show", _, migration):
                return succeeded(command, f"adds the table `{self._names.tables[migration]}`")
            case ("migrate", "run", _, migration):
                self._applied.add(migration)
                return succeeded(command, f"applied {migration}")
            case _:
                usage = "usage: rollout SERVICE, migrate list SERVICE, migrate show SERVICE NAME, migrate run SERVICE NAME"
                return failed(command, usage, exit_code=2)

    def _roll_out(self, command: Command) -> Observation:
        if self._names.needed in self._applied:
            self.rolled_out = True
            return succeeded(command, f"rolled out {self._service}: every host is healthy")
        self.hit = True
        table = self._names.tables[self._names.needed]
        return failed(
            command,
            f"health check failed on {self._names.host}: the table `{table}` does not exist; rolled back\n"
            f"`migrate list {self._service}` lists the migrations that wait.",
        )
