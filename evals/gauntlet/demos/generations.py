"""Steps per task, over generations of fresh agents: each works a few services of one platform, in other words each time."""

from __future__ import annotations

import argparse
import random
from itertools import pairwise
from pathlib import Path
from statistics import median

from rich.console import Console

from evals.gauntlet.crew import Say, run_agent
from evals.gauntlet.demos.base import Demo, claim, show_claims, table_of
from evals.gauntlet.pictures import CONTROL, MEMORY, entitle, picture, save
from evals.gauntlet.policy import Agent
from evals.gauntlet.results import AgentReport, Claimed, ClaimReport, Report
from evals.gauntlet.server import Server
from evals.gauntlet.spending import spent_line
from evals.gauntlet.tribe import Forgetful
from evals.gauntlet.world import World, estate_of

GENERATIONS = 6
ESTATE = 30
"""Services of the platform, of which those are worked that take about as long without memory: what falls is not difficulty."""
SERVICES = 6
"""Worked: more than one generation works, so that what is new grows less and less."""
TASKS = 3
MOST_KEPT = 0.5
"""Of the first generation's steps per task, the last one may take this share."""
FLAT = (0.85, 1.15)
"""Within this the control's last generation must stay of its first."""


class GenerationReport(Report):
    """One generation: which services it worked, in whose words, with the tribe's memory and without any."""

    number: int
    services: list[int]
    new: int
    wording: int
    remembering: AgentReport
    forgetful: AgentReport


class GenerationsReport(Claimed):
    generations: list[GenerationReport]


def alike(seed: int) -> list[int]:
    """Returns the services of the estate that take the steps nearest to the median, worked by an agent without memory."""
    steps = []
    for names in estate_of(seed, ESTATE):
        world = World(names)
        Agent(terminal=world, tribe=Forgetful(), run="rehearsal", say=lambda _line: None).work()
        steps.append(world.steps)
    usual = median(steps)
    return sorted(range(ESTATE), key=lambda at: (abs(steps[at] - usual), at))[:SERVICES]


def tasks_of(seed: int, generations: int) -> list[list[int]]:
    """Returns the services of each generation: new ones come up less and less, and those already known again."""
    drawn = random.Random(f"generations {seed}")
    first = drawn.sample(alike(seed), SERVICES)
    tasks = [first[:TASKS]]
    rest = first[TASKS:]
    while len(tasks) < generations:
        known = [service for service in first if service not in rest]
        new = rest[: max(1, len(rest) // 2)] if rest else []
        rest = rest[len(new) :]
        tasks.append(drawn.sample([*new, *drawn.sample(known, TASKS - len(new))], TASKS))
    return tasks


def run(seed: int, generations: int, server: Server, *, say: Say, model: bool = False) -> GenerationsReport:
    """Runs the generations one after another, each with a control of its own that works the same tasks."""
    seats = server.tribe_of_writers(f"generations-{seed}", *(f"generation-{number + 1}" for number in range(generations)))
    made, seen = [], set[int]()
    for at, services in enumerate(tasks_of(seed, generations)):
        new = len(set(services) - seen)
        seen |= set(services)
        say(f"generation {at + 1} starts: {TASKS} services, {new} of them new")
        options = ["--estate", str(ESTATE), "--wording", str(at), *(f"--service={service}" for service in services)]
        options += ["--model"] if model else []
        made.append(
            GenerationReport(
                number=at + 1,
                services=services,
                new=new,
                wording=at,
                remembering=run_agent(f"generation {at + 1}", seed, server, seats[at], options=options),
                forgetful=run_agent(f"control {at + 1}", seed, server, None, options=options),
            )
        )
    claims = check(made)
    return GenerationsReport(seed=seed, generations=made, claims=claims, passed=all(one.holds for one in claims))


def per_task(agent: AgentReport) -> float:
    return agent.steps / len(agent.tasks)


def check(made: list[GenerationReport]) -> list[ClaimReport]:
    """Returns what is claimed of the generations, with whether it holds."""
    first, last = made[0], made[-1]
    with_memory = [per_task(one.remembering) for one in made]
    without = [per_task(one.forgetful) for one in made]
    rises = sum(after > before for before, after in pairwise(with_memory))
    halves = len(made) // 2
    early, late = sum(with_memory[:halves]) / halves, sum(with_memory[-halves:]) / halves
    agents = [agent for one in made for agent in (one.remembering, one.forgetful)]
    lasting = without[-1] / without[0]
    flat = FLAT[0] <= lasting <= FLAT[1]
    return [
        claim(
            "every agent rolls every service out",
            all(agent.done for agent in agents),
            f"{sum(agent.done for agent in agents)} of {len(agents)}",
        ),
        claim(
            f"the last generation takes at most {MOST_KEPT:.0%} of the first one's steps per task",
            with_memory[-1] <= MOST_KEPT * with_memory[0],
            f"{with_memory[-1]:.1f} against {with_memory[0]:.1f}",
        ),
        claim(
            "steps per task fall: the later half takes fewer than the earlier", late < early, f"{late:.1f} against {early:.1f}"
        ),
        claim(
            "what the last generation follows was learned in other words than its own, and works",
            any(one.worked for one in last.remembering.citations) and last.wording != first.wording,
            f"{sum(one.worked for one in last.remembering.citations)} lessons worked, {rises} rises on the way",
        ),
        claim(
            "control: without memory the same tasks stay as long",
            flat and not any(one.forgetful.recalled for one in made),
            f"{without[0]:.1f} at first, {without[-1]:.1f} at last",
        ),
        claim(
            "control: in the last generation memory saves what it did not in the first",
            1 - with_memory[-1] / without[-1] > 1 - with_memory[0] / without[0],
            f"{1 - with_memory[-1] / without[-1]:.0%} against {1 - with_memory[0] / without[0]:.0%}",
        ),
    ]


def show(console: Console, report: GenerationsReport) -> None:
    table = table_of(
        f"{len(report.generations)} generations of fresh agents, {TASKS} services each of {SERVICES} (seed {report.seed})",
        "generation",
        *("new services", "steps per task", "traps", "lessons that worked", "learned", "without memory", "saved"),
    )
    for one in report.generations:
        agent, control = one.remembering, one.forgetful
        table.add_row(
            str(one.number),
            str(one.new),
            f"{per_task(agent):.1f}",
            str(len(agent.traps_hit)),
            str(sum(citation.worked for citation in agent.citations)),
            str(sum(lesson.lesson is not None for lesson in agent.learned)),
            f"{per_task(control):.1f}",
            f"{1 - agent.steps / control.steps:.0%}",
        )
    console.print(table)
    console.print(
        "Services of one platform share the cache and the header that help, not the config key and the migration. Every\n"
        "generation is a fresh process, and its runbook puts the goals in other words: now and then they are too far from\n"
        "those in which a lesson was learned, and a trap of a known service snaps again.\n",
        style="dim",
        highlight=False,
    )
    spent = spent_line(agent for one in report.generations for agent in (one.remembering, one.forgetful))
    if spent:
        console.print(spent, highlight=False)
    show_claims(console, report.claims)


def draw(report: GenerationsReport, path: Path) -> None:
    figure, axes = picture()
    numbers = [one.number for one in report.generations]
    remembering = [per_task(one.remembering) for one in report.generations]
    forgetful = [per_task(one.forgetful) for one in report.generations]
    axes.plot(numbers, forgetful, color=CONTROL, marker="o", label="without memory, the same tasks")
    axes.plot(numbers, remembering, color=MEMORY, marker="o", linewidth=2.2, label="with the tribe's memory")
    for number, steps in zip(numbers, remembering, strict=True):
        axes.annotate(f"{steps:.0f}", (number, steps), textcoords="offset points", xytext=(0, -16), ha="center", color=MEMORY)
    for number, steps in zip(numbers, forgetful, strict=True):
        axes.annotate(f"{steps:.0f}", (number, steps), textcoords="offset points", xytext=(0, 8), ha="center", color=CONTROL)
    new = [f"{one.number}\n{one.new} new" for one in report.generations]
    axes.set_xticks(numbers, new)
    axes.set_xlabel("generation of fresh agents, and how many of its three services were new to the tribe")
    axes.set_ylabel("commands per task")
    axes.set_ylim(0, max(*forgetful, *remembering) * 1.2)
    axes.legend(frameon=False, loc="center right")
    finding = f"Commands per task fall from {remembering[0]:.0f} to {remembering[-1]:.0f} over {len(numbers)} generations"
    entitle(axes, finding, how=f"each generation in other words; without memory the same tasks stay as long (seed {report.seed})")
    save(figure, path)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=_several, default=GENERATIONS, metavar="N", help="how many generations (default: %(default)s)")
    parser.add_argument("--model", action="store_true", help="have the model of TRIBUTARY_DISTILLER make every move")


def _several(text: str) -> int:
    number = int(text)
    if not 2 <= number <= 50:
        raise argparse.ArgumentTypeError("must be from 2 to 50")
    return number


DEMO = Demo(
    name="generations",
    summary="steps per task fall over generations of fresh agents",
    run=lambda options, server, say: run(options.seed, options.n, server, say=say, model=options.model),
    show=show,
    draw=draw,
    options=_options,
)
