"""What suites work on: the models, a database, how many cases, how much money, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from benchmarks.ground import Ground
from evals.models import Models
from evals.purse import Purse

Case = TypeVar("Case")


class Tier(StrEnum):
    OFFLINE = "offline"
    LIVE = "live"


class Progress(Protocol):
    """Is told what is being done, and how much of it."""

    def begin(self, doing: str, total: int) -> None: ...

    def advance(self) -> None: ...

    def step(self, doing: str) -> None:
        """Something is done whose length is not known."""
        ...


@dataclass(kw_only=True)
class Bench:
    """`limit` bounds the cases of each part of a suite. `open_ground` starts a database when it is first asked for."""

    tier: Tier
    models: Models
    open_ground: Callable[[], Ground]
    progress: Progress
    purse: Purse = field(default_factory=Purse)
    limit: int | None = None
    keeps: bool = False
    """The run is kept in a database: what is played for its history alone is played, too."""
    stopped: list[str] = field(default_factory=list)
    """What was left off since the money was spent."""

    @property
    def ground(self) -> Ground:
        return self.open_ground()

    def some(self, cases: Sequence[Case], key: Callable[[Case], str]) -> list[Case]:
        """Returns the cases, or `limit` of them: of each key as many as of the others, in file order, while there are any."""
        if self.limit is None or len(cases) <= self.limit:
            return list(cases)
        return evenly(cases, key, self.limit)

    def each(self, cases: Sequence[Case], doing: str) -> Iterator[Case]:
        """Yields the cases, telling how far it is, until the money is spent."""
        self.progress.begin(doing, len(cases))
        for number, case in enumerate(cases):
            if not self.purse.may_spend():
                self.stopped.append(f"{doing}: stopped after {number} of {len(cases)}, since --max-usd is spent")
                return
            yield case
            self.progress.advance()


def evenly(cases: Sequence[Case], key: Callable[[Case], str], count: int) -> list[Case]:
    """Returns `count` cases: of each key as many as of the others while it has any, in file order."""
    by_key: dict[str, list[int]] = {}
    for at, case in enumerate(cases):
        by_key.setdefault(key(case), []).append(at)
    turns = max(map(len, by_key.values()), default=0)
    taken = [of[turn] for turn in range(turns) for of in by_key.values() if turn < len(of)]
    return [cases[at] for at in sorted(taken[:count])]
