"""The parts of the service, the operator's side and the gateway that the commands use, as types. Nothing imports it to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol
from uuid import UUID

from tributary.core.agent import Agent, NewToken, Role, Token
from tributary.core.garden import GardenReport
from tributary.core.space import SpaceBuilt, SpaceDropped, SpaceSwitched, TribeSpace
from tributary.core.status import Observation, Status
from tributary.edges.dashboard.port import FrontDoor
from tributary.edges.gateway import Started
from tributary.service import Settings
from tributary.service.memory import ModelsUsed
from tributary.service.operator import NewTribe, SteppedBack, Tribe
from tributary.transfer.evidence import Carried
from tributary.transfer.tribes import Progress, Summary


class OperatorFace(Protocol):
    """The part of `service.operator.Operator` that the commands use."""

    def migrate(self) -> object: ...

    def migration_sql(self) -> str: ...

    def create_tribe(self, name: str, *, curator: str = "curator", days: int = 365) -> NewTribe: ...

    def tribes(self) -> Sequence[Tribe]: ...

    def create_agent(self, tribe: str, name: str, role: Role, *, days: int = 365) -> NewToken: ...

    def agents(self, tribe: str) -> Sequence[Agent]: ...

    def revoke_agent(self, tribe: str, name: str) -> Agent: ...

    def bind(self, tribe: str, name: str, principal: str) -> Agent: ...

    def unbind(self, tribe: str, name: str, principal: str) -> Agent: ...

    def tokens_of(self, tribe: str, name: str) -> Sequence[Token]: ...

    def rotate(self, tribe: str, name: str, *, days: int = 365, keep_others: bool = False) -> NewToken: ...

    def revoke_token(self, tribe: str, token_id: UUID) -> Token: ...

    def has_curator(self, tribe: str) -> bool: ...

    def build_index(self, tribe: str) -> bool: ...

    def rotate_signing_key(self) -> str: ...

    def spaces(self, tribe: str) -> Sequence[TribeSpace]: ...

    def create_space(self, tribe: str) -> TribeSpace: ...

    def build_space(self, tribe: str, name: str | None = None, *, progress: Callable[[int, int], None]) -> SpaceBuilt: ...

    def switch_space(self, tribe: str, name: str | None = None, *, exact: bool = False) -> SpaceSwitched: ...

    def drop_space(self, tribe: str, name: str) -> SpaceDropped: ...

    def export(self, tribe: str, write: Callable[[bytes], object], *, progress: Progress) -> Summary: ...

    def restore(self, lines: Iterable[bytes], *, name: str | None = None, progress: Progress) -> Summary: ...

    def export_evidence(self, tribe: str, folder: Path) -> Carried: ...

    def restore_evidence(self, tribe: str, folder: Path) -> Carried: ...

    def after_restore(self, tribe: str, *, ticks: int) -> SteppedBack: ...


class ServedMemory(FrontDoor, Protocol):
    """The memory that `serve` puts behind the gateway."""

    def warm(self) -> None: ...

    def models_used(self) -> ModelsUsed: ...


class GardenerFace(Protocol):
    """The part of `garden.Gardener` that `garden` uses."""

    def run_named(self, name: str, *, dry_run: bool = False, budget_s: float | None = ...) -> GardenReport: ...

    def run_all(self, *, dry_run: bool = False, budget_s: float | None = ...) -> GardenReport: ...


class ProberFace(Protocol):
    """The part of `service.probing.Probes` that `probe` uses."""

    def databases(self) -> Sequence[Observation]: ...

    def tribes(self, name: str | None) -> dict[str, Status]: ...


class Gateway(Protocol):
    """Serves `memory` until it is told to stop; calls `started` once it accepts requests."""

    def __call__(
        self,
        memory: FrontDoor,
        *,
        settings: Settings,
        host: str,
        port: int,
        started: Callable[[Started], None],
    ) -> None: ...
