"""What the demo claims, checked against what the agents did."""

from __future__ import annotations

from evals.gauntlet.results import AgentReport, ClaimReport

TRAPS = 4


def check_claims(
    first: AgentReport, second: AgentReport, without_recall: AgentReport, with_strange_memory: AgentReport
) -> list[ClaimReport]:
    """Returns every claim with whether it holds. The controls are claims too: without them the gain could be anything's."""
    agents = (first, second, without_recall, with_strange_memory)
    return [
        ClaimReport(
            claim="every agent rolls the service out",
            holds=all(agent.done for agent in agents),
            figures=f"{sum(agent.done for agent in agents)} of {len(agents)}",
        ),
        ClaimReport(
            claim="agent-a, with an empty memory, walks into every trap",
            holds=len(first.traps_hit) == TRAPS and not first.recalled,
            figures=f"{len(first.traps_hit)} of {TRAPS} traps, {len(first.recalled)} lessons recalled",
        ),
        ClaimReport(
            claim="agent-a learns a lesson at each",
            holds=len(_kept(first)) == TRAPS,
            figures=f"{len(_kept(first))} learned",
        ),
        ClaimReport(
            claim="agent-b, with agent-a's lessons, walks into none",
            holds=not second.traps_hit,
            figures=f"{len(second.traps_hit)} of {TRAPS} traps",
        ),
        ClaimReport(
            claim="agent-b takes fewer steps than agent-a",
            holds=second.steps < first.steps,
            figures=f"{second.steps} against {first.steps}",
        ),
        ClaimReport(
            claim="agent-b cites each of agent-a's lessons, and each one worked",
            holds=bool(_kept(first)) and {c.lesson for c in second.citations if c.worked} == _kept(first),
            figures=f"{sum(c.worked for c in second.citations)} worked of {len(second.citations)} cited",
        ),
        ClaimReport(
            claim="the confidence in each cited lesson rises",
            holds=bool(second.citations) and all(c.after > c.before for c in second.citations),
            figures=f"{sum(c.after > c.before for c in second.citations)} of {len(second.citations)} rose",
        ),
        ClaimReport(
            claim="control: with recall switched off there is no gain",
            holds=_no_gain(without_recall, first) and not without_recall.recalled,
            figures=_against(without_recall, first),
        ),
        ClaimReport(
            claim="control: another world's lessons are recalled and tried, and there is no gain",
            holds=_no_gain(with_strange_memory, without_recall)
            and bool(with_strange_memory.citations)
            and not any(c.worked for c in with_strange_memory.citations),
            figures=f"{_against(with_strange_memory, without_recall)}, {len(with_strange_memory.citations)} lessons tried",
        ),
    ]


def _kept(agent: AgentReport) -> set[str]:
    return {lesson.lesson for lesson in agent.learned if lesson.lesson is not None and lesson.outcome == "learned"}


def _no_gain(control: AgentReport, baseline: AgentReport) -> bool:
    return set(control.traps_hit) >= set(baseline.traps_hit) and control.steps >= baseline.steps


def _against(control: AgentReport, baseline: AgentReport) -> str:
    traps = f"{len(control.traps_hit)} traps against {len(baseline.traps_hit)}"
    return f"{traps}, {control.steps} steps against {baseline.steps}"
