"""The poison demo's tables and picture."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.gauntlet.demos.base import show_claims, table_of
from evals.gauntlet.demos.poison_results import PoisonReport
from evals.gauntlet.pictures import CONTROL, MEMORY, QUIET, WRONG, entitle, picture, save
from evals.gauntlet.report import short_id
from evals.gauntlet.results import AgentReport


def show(console: Console, report: PoisonReport) -> None:
    console.print("The falsehood:", Text(report.planted.falsehood_text), style="dim", highlight=False)
    console.print()
    table = table_of(
        f"What it costs in the {report.phase} (seed {report.seed})",
        *("agent", "what it did with the falsehood", f"steps in the {report.phase}", "steps in all", "hijacked"),
        text=2,
    )
    rows: list[tuple[AgentReport, str]] = [
        (report.without_memory, "never heard of it"),
        (report.first, "followed it, disproved it, disputed it"),
        *((agent, "found the truth in its place") for agent in report.later),
        *((agent, "control: followed it, told nobody") for agent in report.silent),
    ]
    for agent, did in rows:
        style = "bold green" if agent in report.later else None
        ran = any(report.attacker in citation.ran for citation in agent.citations)
        table.add_row(agent.agent, did, str(agent.phases[report.phase]), str(agent.steps), "yes" if ran else "no", style=style)
    console.print(table)
    chain = table_of(f"The falsehood's timeline ({short_id(report.planted.falsehood)})", "tick", "event", "by", "then", text=4)
    for event in report.chain:
        after = event.status or ""
        chain.add_row(
            str(event.tick), event.event, event.by, f"{after}, by {short_id(event.successor)}" if event.successor else after
        )
    console.print(chain)
    show_claims(console, report.claims)


def draw(report: PoisonReport, path: Path) -> None:
    figure, axes = picture(width=8.5, height=4.2)
    bars = [
        ("no\nmemory", report.without_memory, CONTROL),
        (f"{report.first.agent}\ndisproves it", report.first, WRONG),
        *((f"{agent.agent}\nafterwards", agent, MEMORY) for agent in report.later),
        *((f"{agent.agent.replace('silent-', 'silent ')}\ncontrol", agent, QUIET) for agent in report.silent),
    ]
    steps = [agent.phases[report.phase] for _, agent, _ in bars]
    drawn = axes.bar(range(len(bars)), steps, color=[colour for _, _, colour in bars])
    axes.bar_label(drawn, [str(count) for count in steps], padding=2)
    axes.set_xticks(range(len(bars)), [label for label, _, _ in bars], fontsize=8)
    axes.axhline(report.without_memory.phases[report.phase], color=CONTROL, linewidth=0.8, linestyle="--", zorder=0)
    axes.set_ylabel(f"commands in the {report.phase}, the phase lied about")
    axes.margins(y=0.15)
    before, after = report.first.phases[report.phase], steps[2]
    finding = f"The falsehood costs one agent {before} commands; those after it need {after}"
    how = f"disputed, tried by a curator and superseded; where nobody contests, everybody pays (seed {report.seed})"
    entitle(axes, finding, how=how)
    save(figure, path)
