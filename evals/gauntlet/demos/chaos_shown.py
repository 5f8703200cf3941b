"""The chaos demo's tables and picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals.gauntlet.demos.base import show_claims, table_of
from evals.gauntlet.demos.chaos_results import ChaosReport
from evals.gauntlet.pictures import CONTROL, MEMORY, WRONG, entitle, pictures, save
from evals.gauntlet.results import AgentReport


def show(console: Console, report: ChaosReport) -> None:
    worlds = len(report.careful.agents)
    table = table_of(
        f"{worlds} worlds whose tools garble their results (seed {report.seed})",
        *("agents", "steps", "corrupted results", "rolled out", "lessons believed after", "of these false"),
    )
    rows: list[tuple[str, Sequence[AgentReport], str, str]] = [
        ("believe a success proved 7 times", report.careful.agents, str(report.careful.believed), str(report.careful.falsehoods)),
        (
            "control: believe a success at once",
            report.gullible.agents,
            str(report.gullible.believed),
            str(report.gullible.falsehoods),
        ),
        (
            "then: sound tools, and a curator",
            report.disproof.agents,
            str(report.disproof.believed),
            str(report.disproof.falsehoods),
        ),
        ("then: whoever comes later", report.disproof.after, "", ""),
    ]
    for name, agents, believed, false in rows:
        table.add_row(
            name,
            str(sum(agent.steps for agent in agents)),
            str(sum(agent.garbled for agent in agents)),
            f"{sum(agent.done for agent in agents)} of {len(agents)}",
            believed,
            false,
        )
    console.print(table)
    killed = table_of("An agent is killed after its second lesson", "who", "traps", "steps", "lessons that worked")
    for agent in (report.killed.successor, report.killed.without_memory):
        worked = sum(citation.worked for citation in agent.citations)
        killed.add_row(agent.agent, str(len(agent.traps_hit)), str(agent.steps), str(worked))
    console.print(killed)
    effect = report.effect
    paid = table_of(f"An agent is killed after it paid, before it said so ({effect.key})", "who follows", "paid how often", "so")
    paid.add_row("successors, with durable actions", str(effect.by_ledger), f"{effect.successor}, then {effect.reconciled}")
    paid.add_row("control: a successor without them", str(effect.control), "paid again")
    console.print(paid)
    show_claims(console, report.claims)


def draw(report: ChaosReport, path: Path) -> None:
    figure, (left, right, last) = pictures(2.4, 1.0, 1.0, width=11.0, height=4.2)
    labels = ["proved again\nand again", "control: success\nbelieved at once", "the control's, tried\nwith sound tools"]
    false = [report.careful.falsehoods, report.gullible.falsehoods, report.disproof.falsehoods]
    believed = [report.careful.believed, report.gullible.believed, report.disproof.believed]
    true = [all_of - false_of for all_of, false_of in zip(believed, false, strict=True)]
    left.bar(range(3), true, color=MEMORY, width=0.6, label="hold when tried")
    bars = left.bar(range(3), false, bottom=true, color=WRONG, width=0.6, label="false")
    left.bar_label(bars, [f"{count} false" for count in false], padding=3)
    left.set_xticks(range(3), labels)
    left.set_ylabel("lessons that the tribe believes")
    left.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    left.set_ylim(0, max(believed) * 1.15)
    steps = [report.killed.successor.steps, report.killed.without_memory.steps]
    drawn = right.bar(range(2), steps, color=[MEMORY, CONTROL], width=0.6)
    right.bar_label(drawn, [str(count) for count in steps], padding=2)
    right.set_xticks(range(2), ["with\nmemory", "control:\nwithout"])
    right.set_ylabel("commands of a killed agent's successor")
    right.margins(y=0.15)
    worlds = len(report.careful.agents)
    entitle(
        left,
        f"Of {false[1]} falsehoods that garbled tools taught, {false[2]} stay believed",
        how=f"{worlds} worlds: 1 in 10 results unreadable, 1 in 5 failures shown as success (seed {report.seed})",
    )
    entitle(right, "What was learned stays", how="killed after two lessons")
    paid = last.bar(range(2), [report.effect.by_ledger, report.effect.control], color=[MEMORY, WRONG], width=0.6)
    last.bar_label(paid, [str(report.effect.by_ledger), str(report.effect.control)], padding=2)
    last.set_xticks(range(2), ["durable\naction", "control:\nnone"])
    last.set_yticks(range(3))
    last.set_ylim(0, 2.4)
    last.set_ylabel("times that the invoice was paid")
    entitle(last, "Paid once", how="killed after paying")
    save(figure, path)
