"""The demo's figures as tables and as a plot."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.gauntlet.demos.base import show_claims, table_of
from evals.gauntlet.pictures import CONTROL, MEMORY, entitle, picture, save
from evals.gauntlet.results import AgentReport, DemoReport
from evals.gauntlet.spending import spent_line

LEGEND = """\
A step is one command given to the world; calls to the memory are counted apart. Traps: how many of the four snapped.
Recalled: lessons that recall returned and that spoke to the move at hand. Worked: those whose advice held.
"""
LEGEND_OF_WAYS = """\
Calls: to the memory. Shown: lessons that the agent was given. Read: characters of them.
"""


def print_report(console: Console, demo: DemoReport) -> None:
    """Prints what each agent did, what became of agent-a's lessons, what was claimed, and what to try next."""
    console.print(_agents(demo))
    console.print(LEGEND, style="dim", highlight=False, soft_wrap=True)
    console.print(_lessons(demo))
    console.print(_ways(demo))
    console.print(LEGEND_OF_WAYS, style="dim", highlight=False, soft_wrap=True)
    spent = spent_line([*demo.agents, demo.in_prompt, demo.late, demo.strange_prompt])
    if spent:
        console.print(spent, highlight=False, soft_wrap=True)
    show_claims(console, demo.claims)
    console.print()
    console.print(_next_steps(), highlight=False, soft_wrap=True)


def _next_steps() -> str:
    """Returns commands that work as printed: with the path of this Python's folder where it is not on the PATH."""
    folder = Path(sys.executable).parent
    on_path = shutil.which("tributary") is not None
    tributary = "tributary" if on_path else _from_here(folder / "tributary")
    steps = {
        f"{tributary} serve": "your own server; prints its address and a token",
        f"{tributary} learn --help": "teach it something",
        f'{tributary} recall "deploy the payments service"': "ask it, from another terminal",
        "docs/architecture.md": "how it works",
        f"{_from_here(Path(sys.executable))} -m evals.gauntlet --seed 11 --json": "another world, as JSON",
    }
    width = max(map(len, steps))
    lines = (f"  {step:<{width}}  {what}" for step, what in steps.items())
    return "\n".join(("[bold]Where to look next[/bold]", *lines))


def _from_here(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def write_plot(demo: DemoReport, path: Path) -> None:
    """Writes the steps of each way to hold the memory as bars, in the format that the ending of `path` names."""
    figure, axes = picture(width=9.0, height=4.2)
    good = {demo.second.agent, demo.in_prompt.agent, demo.late.agent}
    bars = axes.bar(
        range(len(demo.ways)),
        [agent.steps for _, agent in demo.ways],
        color=[MEMORY if agent.agent in good else CONTROL for _, agent in demo.ways],
    )
    axes.bar_label(bars, [f"{agent.steps}, {len(agent.traps_hit)} traps" for _, agent in demo.ways], padding=2)
    labels = [f"{agent.agent.removeprefix('control: ')}\n" + way.replace(", ", ",\n") for way, agent in demo.ways]
    axes.set_xticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylabel("commands until the service is rolled out")
    axes.margins(y=0.15)
    entitle(
        axes,
        f"What one agent learned in {demo.first.steps} commands takes the next ones {demo.second.steps}",
        how=f"four traps; as a tool or in the prompt alike, and no gain from another world's memory (seed {demo.seed})",
    )
    save(figure, path)


def _agents(demo: DemoReport) -> Table:
    table = Table(title=f"One service to roll out, four traps (seed {demo.seed})")
    table.add_column("agent")
    for heading in ("steps", "traps", "recalled", "worked", "learned", "memory calls", "seconds"):
        table.add_column(heading, justify="right")
    for agent in demo.agents:
        table.add_row(*_agent_row(agent), style="bold green" if agent is demo.second else None)
    return table


def _agent_row(agent: AgentReport) -> tuple[str, ...]:
    return (
        agent.agent,
        str(agent.steps),
        str(len(agent.traps_hit)),
        str(len(agent.recalled)),
        str(sum(citation.worked for citation in agent.citations)),
        str(sum(lesson.lesson is not None for lesson in agent.learned)),
        str(agent.memory_calls),
        f"{agent.seconds:.2f}",
    )


def _ways(demo: DemoReport) -> Table:
    table = table_of(
        "One memory, held in different ways",
        *("how the memory is held", "agent", "steps", "traps", "calls", "shown", "read", "worked"),
        text=2,
    )
    for way, agent in demo.ways:
        table.add_row(
            way,
            agent.agent,
            str(agent.steps),
            str(len(agent.traps_hit)),
            str(agent.memory_calls),
            str(agent.shown),
            f"{agent.characters:,}",
            str(sum(citation.worked for citation in agent.citations)),
        )
    return table


def _lessons(demo: DemoReport) -> Table:
    learned = "What was distilled from agent-a's transcript" if demo.distilled else "What agent-a learned"
    table = Table(title=f"{learned}, and what agent-b made of it", show_lines=True)
    table.add_column("lesson", no_wrap=True)
    table.add_column("what it says", ratio=1)
    table.add_column("confidence", justify="right", no_wrap=True)
    table.add_column("cited by agent-b")
    cited = {citation.lesson: citation for citation in demo.second.citations}
    for lesson in demo.first.learned:
        citation = cited.get(lesson.lesson or "")
        table.add_row(
            short_id(lesson.lesson) if lesson.lesson else f"none ({lesson.outcome})",
            Text(lesson.text),
            f"{citation.before:.2f} -> {citation.after:.2f}" if citation else "-",
            ("yes, worked" if citation.worked else "yes, did not help") if citation else "no",
        )
    return table


def short_id(lesson: str) -> str:
    """Returns the prefix and the last eight digits: ids made at about the same time begin alike."""
    prefix, _, digits = lesson.rpartition("_")
    return f"{prefix}_…{digits[-8:]}"
