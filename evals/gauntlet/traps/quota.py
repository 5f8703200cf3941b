"""A deploy API that answers 429 until a particular header comes with a particular value."""

from __future__ import annotations

from dataclasses import dataclass

from evals.gauntlet.names import HEADER_ENDS, HEADER_FRONTS, HEADER_VALUES, PLACES, Draw
from evals.gauntlet.terminal import Command, Observation, failed, succeeded

HEADERS = 6
VALUES = 6


@dataclass(frozen=True, kw_only=True)
class QuotaNames:
    """`headers` and `values` are what the API's page lists; only `header` with `value` has a quota left."""

    host: str
    headers: tuple[str, ...]
    values: tuple[str, ...]
    header: str
    value: str

    @classmethod
    def draw(cls, draw: Draw) -> QuotaNames:
        headers = draw.distinct(HEADERS, lambda: f"X-{draw.one(HEADER_FRONTS)}-{draw.one(HEADER_ENDS)}")
        values = draw.some(HEADER_VALUES, VALUES)
        host = f"deploy.{draw.one(PLACES)}.internal"
        return cls(host=host, headers=headers, values=values, header=draw.one(headers), value=draw.one(values))

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset({self.header, self.value})

    @property
    def all(self) -> frozenset[str]:
        return frozenset({self.host, *self.headers, *self.values})


class Quota:
    """`deploy SERVICE [--header 'NAME: VALUE']`, `docs deploy`."""

    name = "quota"
    tools = frozenset({"deploy", "docs"})

    def __init__(self, service: str, names: QuotaNames) -> None:
        self._service = service
        self._names = names
        self.deployed = False
        self.hit = False

    def run(self, command: Command) -> Observation:
        match command.words:
            case ("deploy", service, *_) if service != self._service:
                return failed(command, f"there is no service {service}")
            case ("deploy", _):
                return self._deploy(command, "", "")
            case ("deploy", _, "--header", header):
                name, _, value = header.partition(":")
                return self._deploy(command, name.strip(), value.strip())
            case ("docs", "deploy"):
                return succeeded(command, self._page())
            case _:
                return failed(command, "usage: deploy SERVICE [--header 'NAME: VALUE'], docs deploy", exit_code=2)

    def _deploy(self, command: Command, name: str, value: str) -> Observation:
        if (name, value) == (self._names.header, self._names.value):
            self.deployed = True
            return succeeded(command, f"deployed {self._service} through {self._names.host}")
        self.hit = True
        refusal = f"HTTP 429 Too Many Requests from {self._names.host}: "
        if name == self._names.header:
            refusal += f'the class "{value}" has no quota left.'
        else:
            refusal += "requests without a class have no quota left."
        return failed(command, f"{refusal}\n`docs deploy` describes the API.", exit_code=22)

    def _page(self) -> str:
        headers = " ".join(f"`{header}`" for header in self._names.headers)
        values = " ".join(f"`{value}`" for value in self._names.values)
        return (
            f"Deploy API at {self._names.host}. A request may carry a header, as in --header 'NAME: VALUE'.\n"
            f"Headers: {headers}\n"
            f"Values: {values}"
        )
