"""What suites are given in tests: nobody to tell, no database, and a language model with set answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from benchmarks.ground import Ground
from tributary.core.ports import Prompt
from tributary.core.spending import CallEnd, ModelCall, account


class Quiet:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def begin(self, doing: str, total: int) -> None:
        self.said.append(f"{doing} ({total})")

    def advance(self) -> None: ...

    def step(self, doing: str) -> None:
        self.said.append(doing)


def without_a_database() -> Ground:
    raise AssertionError("this suite needs no database")


@dataclass
class SetModel:
    """Answers by a rule of the test's, and charges each answer."""

    rule: Callable[[Prompt], Mapping[str, object]]
    usd: Decimal = Decimal("0.01")
    prompts: list[Prompt] = field(default_factory=list)
    version: str = "set:model-1"

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        self.prompts.append(prompt)
        charge(prompt, self.version, self.usd)
        return self.rule(prompt)


def charge(prompt: Prompt, model: str, usd: Decimal | None) -> None:
    """Charges the account at hand as an adapter does."""
    at = datetime.now(UTC)
    account().charge(ModelCall(purpose=prompt.purpose, model=model, at=at, ms=1.0, end=CallEnd.ANSWERED, cost_usd=usd))
