"""The chaos demo's tables and picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals.gauntlet.demos.base import show_claims, table_of
from evals.gauntlet.demos.chaos_results import ChaosReport
from evals.gauntlet.pictures import MEMORY, QUIET, WRONG, entitle, picture, save
from evals.gauntlet.results import AgentReport


def show(console: Console, report: ChaosReport) -> None:
    worlds = len(report.careful.agents)
    table = table_of(
        f"{worlds} worlds whose tools garble their results (seed {report.seed})",
        *("agents", "steps", "corrupted results", "rolled out", "lessons believed after", "of these false"),
    )
    rows: list[tuple[str, Sequence[AgentReport], str, str]] = [
        ("read with care", report.careful.agents, str(report.careful.believed), str(report.careful.falsehoods)),
        (
            "control: believe what they are told",
            report.gullible.agents,
            str(report.gullible.believed),
            str(report.gullible.falsehoods),
        ),
        ("then: sound tools, and a curator", report.disproof.agents, "", str(report.disproof.falsehoods)),
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
    show_claims(console, report.claims)


def draw(report: ChaosReport, path: Path) -> None:
    figure, axes = picture(width=8.5, height=4.2)
    labels = ["read with care", "believe what\nthey are told", "afterwards: sound\ntools, a curator"]
    false = [report.careful.falsehoods, report.gullible.falsehoods, report.disproof.falsehoods]
    believed = [report.careful.believed, report.gullible.believed, report.gullible.believed]
    axes.bar(range(3), believed, color=QUIET, width=0.6, label="lessons that garbled agents taught")
    bars = axes.bar(range(3), false, color=WRONG, width=0.6, label="of these false, and believed")
    axes.bar_label(bars, [f"{count} false" for count in false], padding=3)
    axes.set_xticks(range(3), labels)
    axes.set_ylabel("lessons")
    killed = report.killed
    inset = axes.inset_axes((0.74, 0.0, 0.26, 0.62))
    axes.set_xlim(-0.5, 4.3)
    steps = [killed.successor.steps, killed.without_memory.steps]
    drawn = inset.bar(range(2), steps, color=[MEMORY, QUIET])
    inset.bar_label(drawn, [str(count) for count in steps], fontsize=8)
    inset.set_xticks(range(2), ["with\nmemory", "without"], fontsize=8)
    inset.set_title("successor of a killed agent", fontsize=8.5)
    inset.set_ylabel("commands", fontsize=8)
    inset.set_yticks([])
    inset.margins(y=0.2)
    inset.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5, loc="upper right")
    axes.margins(y=0.15)
    entitle(
        axes,
        f"Garbled tools teach {false[1]} falsehoods to who believes them, {false[0]} to who reads with care; {false[2]} last",
        how=f"{len(report.careful.agents)} worlds, 1 in 10 results unreadable, 1 in 8 failures shown as success (seed {report.seed})",
    )
    save(figure, path)
