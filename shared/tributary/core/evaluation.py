"""What a run of the evals found, kept across commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One metric of one run. `lower` and `upper` bound its 95 % interval where it has one; `n` counts its cases."""

    suite: str
    metric: str
    value: float
    n: int
    lower: float | None
    upper: float | None


@dataclass(frozen=True, kw_only=True)
class EvaluationRun:
    """A run: of which code, when, in which tier and with which models, by the part that each has."""

    run_id: UUID
    at: datetime
    commit: str
    tier: str
    models: Mapping[str, str | None]
    found: tuple[Evaluation, ...]
