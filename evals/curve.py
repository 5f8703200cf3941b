"""Steps per task over generations of fresh agents, played in the process: the curve that `evals.gauntlet generations` draws.

Each generation is one agent that works three services of one platform, in other words each time: once with what those before it
left in the tribe's memory, and once without any. The scripted policy makes every move, so the same code gives the same curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evals.bench import Bench
from evals.figures import Metric
from evals.gauntlet.demos.generations import ESTATE, GENERATIONS, tasks_of
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.policy import Agent
from evals.gauntlet.tribe import Counted, Forgetful, Tribe
from evals.gauntlet.world import Names, World, estate_of
from evals.here import TribeHere
from tributary.core.errors import TributaryError
from tributary.core.evaluation import GENERATION, WITH_MEMORY, WITHOUT, Better
from tributary.service import Memory

SEED = 7


def generations(bench: Bench, memory: Memory) -> tuple[Metric, ...]:
    """Returns `generation.<number>.with_memory` and `.without` of each generation: the mean steps of its tasks.

    The curve ends where an agent got stuck, the memory failed it, or the money is spent.
    """
    found: list[Metric] = []
    try:
        for metrics in _played(bench, memory):
            found += metrics
    except (TributaryError, Stuck):
        pass
    return tuple(found)


def _played(bench: Bench, memory: Memory) -> Iterator[tuple[Metric, Metric]]:
    tribe = bench.ground.create_tribe("generations")
    estate = estate_of(SEED, ESTATE)
    for at, services in enumerate(bench.each(tasks_of(SEED, GENERATIONS), "playing generations")):
        agent = bench.ground.create_writer(tribe, f"generation-{at + 1}")
        names = [estate[service] for service in services]
        yield (
            _worked(names, at, TribeHere(memory, agent), kind=WITH_MEMORY),
            _worked(names, at, Forgetful(), kind=WITHOUT),
        )


def _worked(services: Sequence[Names], at: int, shared: Tribe, *, kind: str) -> Metric:
    """Returns the steps per task of one generation that works these services."""
    worlds = [World(names, wording=at) for names in services]
    for world in worlds:
        Agent(terminal=world, tribe=Counted(shared), run=f"generation-{at + 1}", say=lambda _line: None).work()
    steps = sum(world.steps for world in worlds) / len(worlds)
    return Metric(name=f"{GENERATION}.{at + 1}.{kind}", value=steps, n=len(worlds), better=Better.LOWER, tolerance=None)
