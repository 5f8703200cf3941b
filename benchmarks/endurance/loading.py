"""Loads one scene: tribes with lessons, a server, agents in processes of their own, and what was left when they had gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import psutil
import psycopg

from benchmarks.corpus import Material
from benchmarks.endurance.crowd import GO, MODULE, READY, ROOT, Made, Plan, line_of
from benchmarks.endurance.judging import Ran, lost_lessons, trouble_in
from benchmarks.endurance.scenes import Scene
from benchmarks.endurance.served import Sampler, served
from benchmarks.endurance.slow_judge import slow_judge
from benchmarks.ground import Ground, Tribe, open_ground
from tributary.core.agent import Role

Plant = Literal["database", "leak"]
CROWDS = 2
"""Processes of clients."""
SETTLE_S = 240.0
"""For which pending lessons are waited for when nobody learns any more."""
GRACE_S = 90.0
"""For which a crowd may take longer than its time: its last calls may."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """How much of everything. `plant` puts a defect in, to see that it is found."""

    seconds: float
    tribes: int
    agents: int
    lessons: int
    requests_per_s: float
    nuisances: int
    seed: int
    plant: Plant | None = None

    @property
    def sample_every_s(self) -> float:
        return min(1.0, self.seconds / 40)


Told = Callable[[Sequence[Made], Sampler], None]
"""Is called now and then with all calls up to now."""


def run(scene: Scene, load: Load, material: Material, tell: Told) -> Ran:
    """Loads the scene's server and returns what happened."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tributary-load-", ignore_cleanup_errors=True)))
        ground = stack.enter_context(open_ground("load"))
        tribes, agents = _settlers(ground, load, material)
        environment = dict(scene.environment)
        provider = stack.enter_context(slow_judge(load.seed)) if scene.slow_models else None
        if provider is not None:
            environment["TRIBUTARY_OPENAI_URL"] = f"{provider.url}/v1"
        leaking = load.plant == "leak"
        server = stack.enter_context(
            served(ground.url, tribe=tribes[0].name, pool=scene.pool, environment=environment, folder=folder, leaking=leaking)
        )
        calls: list[Made] = []
        with (
            _crowds(server.url, load, agents, calls) as crowds,
            Sampler(server.process.pid, ground.url, every_s=load.sample_every_s, for_s=load.seconds) as sampler,
        ):
            until = time.monotonic() + load.seconds + GRACE_S
            planted = load.plant != "database"
            half = time.monotonic() + load.seconds / 2
            while any(one.poll() is None for one in crowds) and time.monotonic() < until:
                time.sleep(0.2)
                tell(calls, sampler)
                if provider is not None:
                    provider.asked.clear()  # a record that nobody reads here
                if not planted and time.monotonic() > half:
                    _kill_database(ground)
                    planted = True
            logged = [f"a crowd did not end well: status {one.poll()}" for one in crowds if one.poll() != 0]
        lost = list(_left_behind(ground, calls))
        status = server.stop()
        return Ran(
            scene=scene,
            seconds=load.seconds,
            calls=tuple(calls),
            samples=tuple(sampler.samples),
            lost=lost,
            outcomes=Counter(one.acknowledged["outcome"] for one in calls if one.acknowledged),
            logged=[*logged, *trouble_in(server)],
            exit_status=status,
            agents=len(agents),
        )


def _settlers(ground: Ground, load: Load, material: Material) -> tuple[list[Tribe], list[dict[str, str]]]:
    """Makes the tribes, with lessons, and their agents: one in five is a curator, whose word replaces others'."""
    tribes, agents = [], []
    for number in range(load.tribes):
        tribe = ground.create_tribe(f"tribe-{number}")
        ground.fill(tribe, material.corpus(load.lessons, seed=load.seed + number), range(load.lessons))
        tribes.append(tribe)
        for one in range(load.agents):
            role = Role.CURATOR if one % 5 == 4 else Role.WRITER
            made = ground.operator.create_agent(tribe.name, f"agent-{number}-{one}", role)
            agents.append({"tribe": tribe.name, "name": made.agent.name, "token": made.secret})
    ground.settle_statistics()
    return tribes, agents


@contextmanager
def _crowds(url: str, load: Load, agents: Sequence[dict[str, str]], calls: list[Made]) -> Iterator[list[subprocess.Popen[str]]]:
    """Runs the agents while the block does, in processes of their own, and adds what they tell to `calls`."""
    processes, readers = [], []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])}
    for number in range(CROWDS):
        plan = Plan(
            url=url,
            seed=load.seed + number,
            seconds=load.seconds,
            pause_s=len(agents) / load.requests_per_s,
            agents=list(agents[number::CROWDS]),
            nuisances=load.nuisances // CROWDS,
        )
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT, text=True
        )
        _say(process, json.dumps(asdict(plan)))
        processes.append(process)
    try:
        for process in processes:
            assert process.stdout is not None
            if process.stdout.readline().strip() != READY:
                raise RuntimeError(f"a crowd did not get ready: status {process.wait()}")
        for process in processes:
            _say(process, GO)
            readers.append(threading.Thread(target=_read, args=(process, calls)))
            readers[-1].start()
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for reader in readers:
            reader.join()


def _say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def _read(process: subprocess.Popen[str], calls: list[Made]) -> None:
    assert process.stdout is not None
    calls.extend(map(line_of, process.stdout))


def _kill_database(ground: Ground) -> None:
    row = ground.superuser.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    postmaster = psutil.Process(row[0]).parent()
    assert postmaster is not None
    postmaster.send_signal(signal.SIGQUIT)


def _left_behind(ground: Ground, calls: Sequence[Made]) -> Iterator[str]:
    """Waits until nothing is pending, and yields what is not as it was acknowledged."""
    until = time.monotonic() + SETTLE_S
    try:
        while time.monotonic() < until:
            row = ground.superuser.execute("SELECT count(*) FROM tributary.lesson WHERE status = 'pending'").fetchone()
            if row and row[0] == 0:
                break
            time.sleep(0.5)
        yield from lost_lessons(ground.superuser, calls)
    except psycopg.Error as error:
        yield f"the database cannot be asked what it holds: {type(error).__name__}"
