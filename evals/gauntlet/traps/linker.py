"""A build whose linker is killed until one particular cache is cleared."""

from __future__ import annotations

from dataclasses import dataclass

from evals.gauntlet.names import CACHE_PARTS, CACHE_ROOTS, CACHE_TOOLS, Draw
from evals.gauntlet.terminal import Command, Observation, failed, succeeded

CACHES = 7


@dataclass(frozen=True, kw_only=True)
class LinkerNames:
    """`caches` is what the builder keeps; `full` is the one that starves the linker."""

    caches: tuple[str, ...]
    full: str

    @classmethod
    def draw(cls, draw: Draw) -> LinkerNames:
        caches = draw.distinct(CACHES, lambda: f"{draw.one(CACHE_ROOTS)}/{draw.one(CACHE_TOOLS)}-{draw.one(CACHE_PARTS)}")
        return cls(caches=caches, full=draw.one(caches))

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset({self.full})

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.caches)


class Linker:
    """`build SERVICE`, `cache list`, `cache clear PATH`."""

    name = "linker"
    tools = frozenset({"build", "cache"})

    def __init__(self, service: str, names: LinkerNames) -> None:
        self._service = service
        self._names = names
        self._cleared = False
        self.built = False
        self.hit = False

    def run(self, command: Command) -> Observation:
        match command.words:
            case ("build", self._service):
                return self._build(command)
            case ("build", other):
                return failed(command, f"there is no service {other}")
            case ("cache", "list"):
                lines = (f"`{path}`" for path in self._names.caches)
                return succeeded(command, "\n".join(("Caches of this builder; `cache clear PATH` empties one:", *lines)))
            case ("cache", "clear", path):
                return self._clear(command, path)
            case _:
                return failed(command, "usage: build SERVICE, cache list, cache clear PATH", exit_code=2)

    def _build(self, command: Command) -> Observation:
        if self._cleared:
            self.built = True
            return succeeded(command, f"built {self._service}")
        self.hit = True
        text = "error: linker exited 137\nThe builder ran out of room while linking. `cache list` shows its caches."
        return failed(command, text, exit_code=137)

    def _clear(self, command: Command, path: str) -> Observation:
        if path not in self._names.caches:
            return failed(command, f"there is no cache at {path}")
        self._cleared = self._cleared or path == self._names.full
        return succeeded(command, f"cleared {path}")
