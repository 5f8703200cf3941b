"""A whole run over two tribes: the workload, then what it left."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from tests.doubles import RuledJudge
from tests.history.calls import Call, Request, recorded
from tests.history.operations import Scene, Workload, clocks
from tests.history.tables import Tables
from tests.history.world import Hesitation, Pause, World, rule
from tests.tribes import open_tribal
from tributary.core.agent import Principal

ASKED_AGAIN = 150
"""How many questions about the past are asked once more at the end."""


@dataclass(kw_only=True)
class History:
    """What one tribe's agents asked and were told, and its tables afterwards.

    `again` are questions about the past with the call made during the run and the one made at its end.
    """

    tribe_id: UUID
    agents: Mapping[UUID, Principal]
    calls: list[Call]
    again: list[tuple[Call, Call]]
    tables: Tables


def run(
    url: str,
    *,
    seed: int,
    operations: int,
    threads: int = 8,
    world: World | None = None,
    pause: Pause | None = None,
) -> list[History]:
    """Makes two tribes in the migrated database at `url`, runs the workload of `seed` over them, and returns their histories."""
    judge = RuledJudge(rule, before=pause or Hesitation(seed))
    with ExitStack() as stack:
        names = (f"tribe-{seed}", f"neighbour-{seed}")
        tribals = [stack.enter_context(open_tribal(url, name=name, judge=judge)) for name in names]
        scenes = (Scene.of(tribals[0], curators=2, writers=4), Scene.of(tribals[1], curators=1, writers=2))
        workload = Workload(scenes, world or World(), operations=operations, threads=threads, seed=seed)
        workload.run()
        for scene in scenes:
            _last_word(scene)
        return [_history(scene, random.Random(seed)) for scene in scenes]


def _last_word(scene: Scene) -> None:
    """Has a curator erase what was learned last, so that every history ends with words that nobody said again, and settles what
    that lets go of.
    """
    last = next(one for one in reversed(scene.lessons) if one.text)
    request = Request(agent=scene.tribal.curator, operation="erase", given={"lesson_id": last.lesson_id})
    with clocks(scene.tribal.url) as clock:
        scene.keep(recorded(scene.tribal.memory, request, partial(clock, scene.tribal.tribe_id)))
    while scene.tribal.memory.settle_pending():
        pass


def _history(scene: Scene, chance: random.Random) -> History:
    past = [one for one in scene.calls if _about_the_past(one) and one.reply is not None]
    asked = chance.sample(past, min(ASKED_AGAIN, len(past)))
    with clocks(scene.tribal.url) as clock:
        now = partial(clock, scene.tribal.tribe_id)
        again = [(one, recorded(scene.tribal.memory, one.request, now)) for one in asked]
    return History(
        tribe_id=scene.tribal.tribe_id,
        agents={one.agent_id: one for one in scene.agents},
        calls=scene.calls,
        again=again,
        tables=Tables.read(scene.tribal.url, scene.tribal.tribe_id, chance=chance),
    )


def _about_the_past(call: Call) -> bool:
    if call.operation == "listing":
        return True
    return call.operation == "recall" and call.request.given["question"].as_of is not None
