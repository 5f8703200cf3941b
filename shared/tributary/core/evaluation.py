"""What a run of the evals found, kept across commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from tributary.core.decision import VerdictKind

CONFUSION = "confusion"
"""Begins the counts of the judge's confusion matrix: `confusion.<label>.<answer>`, of so many cases with that label."""
SETTLED_BY_CHEAP = "tier.cheap.settled"
"""Labelled pairs that the cheap judge settled alone, of so many."""
STRONG_CALLS = "tier.strong.calls"
"""Labelled pairs that the strong judge was asked about as well, of so many."""
GENERATION = "generation"
"""Begins the steps per task of a generation of agents: `generation.<number>.with_memory` and `.without`, over so many tasks."""
WITH_MEMORY, WITHOUT = "with_memory", "without"
_ORDER = {kind.value: place for place, kind in enumerate(VerdictKind)}


class Better(StrEnum):
    """Which way a metric gets better."""

    HIGHER = "higher"
    LOWER = "lower"
    ZERO = "nearer 0"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One metric of one run. `lower` and `upper` bound its 95 % interval where it has one; `n` counts its cases."""

    suite: str
    metric: str
    value: float
    n: int
    lower: float | None
    upper: float | None
    better: Better | None = None
    """None where it was not said."""


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """How often the judge gave which answer: `counts` has a row for each label, a column for each answer."""

    labels: tuple[str, ...]
    answers: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Tiers:
    """Which judge settled so many labelled pairs."""

    pairs: int
    settled_by_cheap: int
    strong_calls: int


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How many steps a task took a generation of fresh agents, with the memory of those before and without any."""

    number: int
    tasks: int
    steps_with_memory: float
    steps_without: float


@dataclass(frozen=True, kw_only=True)
class EvaluationRun:
    """A run: of which code, when, in which tier and with which models, by the part that each has."""

    run_id: UUID
    at: datetime
    commit: str
    tier: str
    models: Mapping[str, str | None]
    found: tuple[Evaluation, ...]

    @property
    def metrics(self) -> tuple[Evaluation, ...]:
        """What was found but for what stands in `confusion`, `tiers` and `generations`."""
        return tuple(one for one in self.found if one.metric.partition(".")[0] not in (CONFUSION, "tier", GENERATION))

    @property
    def confusion(self) -> Confusion | None:
        """The judge's confusion matrix; None where the run did not score the judge."""
        counts = {(label, answer): int(one.value) for label, answer, one in self._parts(CONFUSION)}
        if not counts:
            return None
        labels, answers = (_ordered(place) for place in zip(*counts, strict=True))
        rows = tuple(tuple(counts.get((label, answer), 0) for answer in answers) for label in labels)
        return Confusion(labels=labels, answers=answers, counts=rows)

    @property
    def tiers(self) -> Tiers | None:
        """Which judge settled the labelled pairs; None where the run did not score the judge."""
        cheap, strong = (self._by_name.get(name) for name in (SETTLED_BY_CHEAP, STRONG_CALLS))
        if cheap is None or strong is None:
            return None
        return Tiers(pairs=cheap.n, settled_by_cheap=int(cheap.value), strong_calls=int(strong.value))

    @property
    def generations(self) -> tuple[Generation, ...]:
        """The generations of agents that the run played, in order."""
        steps = {(int(number), with_or_without): one for number, with_or_without, one in self._parts(GENERATION)}
        return tuple(
            Generation(number=number, tasks=one.n, steps_with_memory=one.value, steps_without=steps[number, WITHOUT].value)
            for (number, kind), one in sorted(steps.items())
            if kind == WITH_MEMORY and (number, WITHOUT) in steps
        )

    def _parts(self, first: str) -> Iterable[tuple[str, str, Evaluation]]:
        """Yields the two parts of each name that begins with `first`, and what was found under it."""
        for name, one in self._by_name.items():
            match name.split("."):
                case [begins, second, third] if begins == first:
                    yield second, third, one

    @cached_property
    def _by_name(self) -> Mapping[str, Evaluation]:
        return {one.metric: one for one in self.found}


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Returns verdicts in their usual order, what is none of them last."""
    return tuple(sorted(set(names), key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))
