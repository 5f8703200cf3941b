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


def check_ways(
    first: AgentReport, tool: AgentReport, in_prompt: AgentReport, late: AgentReport, strange_prompt: AgentReport
) -> list[ClaimReport]:
    """Returns the claims about how a memory is held: put into the prompt, or as a tool that the agent asks when it will."""
    ways = (in_prompt, late, strange_prompt)
    kept = _kept(first)
    return [
        ClaimReport(
            claim="however the memory is held, the service is rolled out",
            holds=all(agent.done for agent in ways),
            figures=f"{sum(agent.done for agent in ways)} of {len(ways)}",
        ),
        ClaimReport(
            claim="agent-c, which finds the lessons in its prompt, walks into no trap and asks the memory once",
            holds=not in_prompt.traps_hit and in_prompt.steps < first.steps and _asked(in_prompt) == 1,
            figures=f"{len(in_prompt.traps_hit)} of {TRAPS} traps, {in_prompt.steps} steps, {_asked(in_prompt)} recalled",
        ),
        ClaimReport(
            claim="agent-d, which asks only after a failure, walks into every trap and out of each by a lesson",
            holds=len(late.traps_hit) == TRAPS
            and bool(kept)
            and {c.lesson for c in late.citations if c.worked} == kept
            and tool.steps < late.steps < first.steps,
            figures=f"{len(late.traps_hit)} of {TRAPS} traps, {tool.steps} < {late.steps} < {first.steps} steps",
        ),
        ClaimReport(
            claim="control: another world's lessons in the prompt are tried, and there is no gain",
            holds=_no_gain(strange_prompt, first)
            and bool(strange_prompt.citations)
            and not any(c.worked for c in strange_prompt.citations),
            figures=f"{_against(strange_prompt, first)}, {len(strange_prompt.citations)} lessons tried",
        ),
    ]


def _asked(agent: AgentReport) -> int:
    """Returns how many of an agent's calls to the memory were recalls."""
    return agent.memory_calls - len(agent.learned) - sum(citation.worked for citation in agent.citations)


def _kept(agent: AgentReport) -> set[str]:
    return {lesson.lesson for lesson in agent.learned if lesson.lesson is not None and lesson.outcome == "learned"}


def _no_gain(control: AgentReport, baseline: AgentReport) -> bool:
    return set(control.traps_hit) >= set(baseline.traps_hit) and control.steps >= baseline.steps


def _against(control: AgentReport, baseline: AgentReport) -> str:
    traps = f"{len(control.traps_hit)} traps against {len(baseline.traps_hit)}"
    return f"{traps}, {control.steps} steps against {baseline.steps}"
