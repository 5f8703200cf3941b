"""What the poison demo reports."""

from __future__ import annotations

from evals.gauntlet.results import AgentReport, Claimed, Report


class PlantedReport(Report):
    """What was planted, and what became of it. `release` is the outcome of a curator's release of the hostile lesson, if any."""

    falsehood: str
    falsehood_text: str
    outcome: str
    stated: float
    confidence: float
    hostile: str
    release: str | None


class ChainEvent(Report):
    """One event of the falsehood's timeline."""

    tick: int
    event: str
    by: str
    status: str | None
    successor: str | None


class PoisonReport(Claimed):
    """`silent` agents contest nothing, in a tribe of their own where the hostile lesson was let through as well."""

    phase: str
    attacker: str
    planted: PlantedReport
    let_through: PlantedReport
    challenges: int
    endings: list[str]
    rationale: str
    chain: list[ChainEvent]
    successor: str | None
    held: str
    first: AgentReport
    later: list[AgentReport]
    silent: list[AgentReport]
    without_memory: AgentReport

    @property
    def agents(self) -> list[AgentReport]:
        return [self.first, *self.later, *self.silent, self.without_memory]
