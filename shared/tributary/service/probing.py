"""The operator's look at the databases: as the runtime role, without a token, and changing nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tributary.core.errors import NotFound, NotMigrated, TributaryError
from tributary.core.status import Observation, Status
from tributary.service.memory import Memory
from tributary.service.settings import Settings
from tributary.service.wiring import Adapters, open_memory
from tributary.store import statement


@dataclass(frozen=True, kw_only=True)
class Probes:
    """What can be seen of the databases and of each tribe in them."""

    memory: Memory

    def databases(self) -> Sequence[Observation]:
        return self.memory.prober.databases()

    def tribes(self, name: str | None) -> dict[str, Status]:
        """Returns what is seen of the tribe of that name, or of all, by name; nothing while the tribes cannot be seen.

        Raises NotFound for a name that is none's.
        """
        try:
            found = self.memory.databases.reading.rows(statement("garden", "tribes"), {})
        except TributaryError:
            return {}  # which `databases` tells the cause of
        known = {each: tribe_id for tribe_id, each in found if name in (None, each)}
        if name is not None and not known:
            raise NotFound(f"there is no tribe named '{name}'")
        return {each: self.memory.prober.tribe(tribe_id) for each, tribe_id in known.items()}


@contextmanager
def open_prober(settings: Settings, *, adapters: Adapters | None = None) -> Iterator[Probes]:
    """Opens what `settings` name, to look at it. An embedded server that stands still runs meanwhile, one is never made.

    Raises BadSetting, and NotMigrated when the embedded server has no data yet.
    """
    if settings.database_url is None and settings.owner_url is None and settings.home is not None:
        from tributary.store.embedded import EmbeddedPostgres

        if not EmbeddedPostgres.is_made(settings.home, major=int(settings.postgres_major)):
            raise NotMigrated(f"no database was made under '{settings.home}' yet; 'tributary serve' makes one")
    with open_memory(settings, adapters=adapters) as memory:
        yield Probes(memory=memory)
