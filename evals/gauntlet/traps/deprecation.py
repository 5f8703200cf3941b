"""A config key that is silently deprecated: it can be set, without an error, and its effective value stays empty."""

from __future__ import annotations

from dataclasses import dataclass

from evals.gauntlet.names import KEY_NAMES, KEY_STYLES, KEY_THINGS, PLACES, Draw
from evals.gauntlet.terminal import Command, Observation, failed, succeeded

KEYS = 7


@dataclass(frozen=True, kw_only=True)
class DeprecatedKeyNames:
    """`keys` is what the service knows: the `old` one, its `successor`, and others that feed something else."""

    keys: tuple[str, ...]
    old: str
    successor: str
    value: str

    @classmethod
    def draw(cls, draw: Draw, *, area: str) -> DeprecatedKeyNames:
        def key() -> str:
            style = draw.one(KEY_STYLES)
            return style.format(area=area.upper(), thing=draw.one(KEY_THINGS), name=draw.one(KEY_NAMES))

        keys = draw.distinct(KEYS, key)
        old, successor = draw.some(keys, 2)
        value = f"db-{draw.number(2, 97)}.{draw.one(PLACES)}.internal:{draw.number(5000, 6999)}"
        return cls(keys=keys, old=old, successor=successor, value=value)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset({self.successor})

    @property
    def all(self) -> frozenset[str]:
        return frozenset({*self.keys, self.value})


class DeprecatedKey:
    """`config set SERVICE KEY VALUE`, `config unset SERVICE KEY`, `config check SERVICE`, `config keys SERVICE`."""

    name = "deprecated key"
    tools = frozenset({"config"})

    def __init__(self, service: str, names: DeprecatedKeyNames) -> None:
        self._service = service
        self._names = names
        self._values: dict[str, str] = {}
        self.hit = False

    @property
    def configured(self) -> bool:
        """Tells whether the value has arrived under the key that is read."""
        return self._values.get(self._names.successor) == self._names.value

    def run(self, command: Command) -> Observation:
        match command.words:
            case ("config", _, service, *_) if service != self._service:
                return failed(command, f"there is no service {service}")
            case ("config", "set" | "unset", _, key, *_) if key not in self._names.keys:
                return failed(command, f"{self._service} knows no key {key}", exit_code=2)
            case ("config", "set", _, key, value):
                self.hit = self.hit or key == self._names.old
                self._values[key] = value
                return succeeded(command, f"saved {key}")
            case ("config", "unset", _, key):
                self._values.pop(key, None)
                return succeeded(command, f"removed {key}")
            case ("config", "check", _):
                return self._check(command)
            case ("config", "keys", _):
                lines = (f"`{key}`" for key in self._names.keys)
                return succeeded(command, "\n".join((f"Keys that {self._service} accepts:", *lines)))
            case _:
                usage = "usage: config set SERVICE KEY VALUE, config unset SERVICE KEY, config check SERVICE, config keys SERVICE"
                return failed(command, usage, exit_code=2)

    def _check(self, command: Command) -> Observation:
        effective = self._values.get(self._names.successor, "")
        if self.configured:
            return succeeded(command, f'{self._service}: database address is "{effective}"')
        hint = f"`config keys {self._service}` lists the keys that it accepts."
        return failed(command, f'{self._service}: database address is "{effective}"\n{hint}')
