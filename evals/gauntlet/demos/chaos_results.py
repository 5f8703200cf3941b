"""What the chaos demo reports."""

from __future__ import annotations

from evals.gauntlet.results import AgentReport, Claimed, Report


class GarbledReport(Report):
    """Agents whose tools garble, and what their tribe believed afterwards; `falsehoods` do not hold when they are tried."""

    agents: list[AgentReport]
    believed: int
    falsehoods: int


class DisproofReport(Report):
    """What became of the falsehoods: agents with sound tools tried them, a curator ruled, and what is believed then."""

    agents: list[AgentReport]
    endings: list[str]
    believed: int
    falsehoods: int
    after: list[AgentReport]


class KilledReport(Report):
    """An agent that was killed, and those who came after it. `code` is its exit code, `committed` what the tribe kept of it."""

    code: int
    committed: int
    successor: AgentReport
    without_memory: AgentReport


class EffectReport(Report):
    """An agent is killed between an irreversible effect and the word that it is done; others follow, and a curator looks.

    `by_ledger` and `control` count how often the effect happened, with durable actions and without.
    """

    key: str
    code: int
    successor: str
    reconciled: str
    last: str
    by_ledger: int
    control: int


class ChaosReport(Claimed):
    careful: GarbledReport
    gullible: GarbledReport
    disproof: DisproofReport
    killed: KilledReport
    effect: EffectReport
