"""Loads a real server for minutes and tells whether it stayed as it was; ends with status 1 when it did not.

    python -m benchmarks.endurance [--minutes 10] [--tribes 20] [--agents 5] [--rate 30] [--seed 7] [--scene NAME ...]

Three settings in turn, a third of the time each: as it is, with a database pool of one connection, with slow models. What is
loaded and what is asserted: docs/load.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from benchmarks.corpus import Material, embed_material
from benchmarks.endurance.crowd import Made
from benchmarks.endurance.judging import MB, Ran, compared, complaints
from benchmarks.endurance.loading import Load, run
from benchmarks.endurance.scenes import SCENES, Scene
from benchmarks.endurance.served import ROOT, Sampler
from benchmarks.endurance.showing import Verdict, document, draw, into_page, markdown, tables

PAGE, PICTURE = ROOT / "docs/load.md", ROOT / "docs/images/load.png"
SENTENCES = 600
TOLD_EVERY_S = 15.0
WIDEST = 150
FEWEST_S = 6.0


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers and their homes are cleared away
    scenes = [scene for scene in SCENES if not options.scene or scene.name in options.scene]
    load = Load(
        seconds=(options.seconds or options.minutes * 60) / len(scenes),
        tribes=options.tribes,
        agents=options.agents,
        lessons=options.lessons,
        requests_per_s=options.rate,
        nuisances=options.nuisances,
        seed=options.seed,
        plant=options.plant,
    )
    voice = Console(stderr=True)
    voice.print("embedding sentences to make lessons of")
    material = embed_material(sentences=min(SENTENCES, load.lessons), queries=1, seed=load.seed)
    with _progress(voice) as progress:
        ran = [_loaded(scene, load, material, progress) for scene in scenes]
    wrong = {one.scene.name: list(complaints(one)) for one in ran} | {"beside one another": list(compared(ran))}
    verdict = Verdict(ran=ran, wrong=wrong)
    _tell(verdict, options, load)
    return 0 if verdict.passed else 1


def _tell(verdict: Verdict, options: argparse.Namespace, load: Load) -> None:
    about = (
        f"`python -m benchmarks.endurance {' '.join(sys.argv[1:])}`, {datetime.now(UTC):%Y-%m-%d}: {load.tribes} tribes of"
        f" {load.agents} agents and {load.lessons} lessons, {load.nuisances} slow callers, {load.seconds:.0f} s a setting, seed"
        f" {load.seed}; Python {platform.python_version()}, {os.cpu_count()} cores for server, database, clients and models"
        f" together, load average {os.getloadavg()[0]:.1f} at the end."
    )
    console = Console(width=None if sys.stdout.isatty() else WIDEST)
    console.print(tables(verdict, about))
    for scene, found in verdict.wrong.items():
        for one in found:
            console.print(f"WRONG  {scene}: {one}", style="red", markup=False, highlight=False)
    console.print("passed" if verdict.passed else "FAILED", style="bold")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "load.json").write_text(json.dumps(document(verdict, {"about": about})) + "\n", encoding="utf-8")
    draw(verdict, about, options.out / "load.png")
    if options.docs:
        into_page(PAGE, markdown(verdict, about))
        draw(verdict, about, PICTURE)


def _progress(voice: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
        console=voice,
        disable=not voice.is_terminal,
    )


def _loaded(scene: Scene, load: Load, material: Material, progress: Progress) -> Ran:
    """Runs a scene, and says how it goes: on a terminal all the time, elsewhere now and then."""
    task: TaskID = progress.add_task(scene.name, total=load.seconds, said="making tribes")
    progress.console.print(f"{scene.name}: {scene.about}", highlight=False)
    began: float | None = None
    told = 0.0

    def tell(calls: Sequence[Made], sampler: Sampler) -> None:
        nonlocal began, told
        began = time.monotonic() if began is None else began
        passed = time.monotonic() - began
        lately = [one.ms for one in calls[-300:] if one.operation == "recall"]
        wrong = sum(one.wrong is not None for one in calls)
        memory = sampler.samples[-1].memory_bytes / MB if sampler.samples else 0
        median = sorted(lately)[len(lately) // 2] if lately else 0
        said = (
            f"{len(calls):,} calls, {len(calls) / max(passed, 1):.0f}/s, recall {median:.0f} ms, {wrong} wrong, {memory:.0f} MB"
        )
        progress.update(task, completed=min(passed, load.seconds), said=said)
        if progress.disable and passed - told >= TOLD_EVERY_S:
            told = passed
            progress.console.print(f"  {passed:4.0f} s  {said}", highlight=False)

    return run(scene, load, material, tell)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.endurance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="of load in all, over the settings")
    parser.add_argument("--seconds", type=float, help="the same in seconds")
    parser.add_argument("--tribes", type=int, default=20)
    parser.add_argument("--agents", type=int, default=5, help="of each tribe")
    parser.add_argument("--lessons", type=int, default=200, help="that each tribe believes from the start")
    parser.add_argument("--rate", type=float, default=30.0, help="calls a second of all agents together, if each took no time")
    parser.add_argument("--nuisances", type=int, default=200, help="connections of callers who are slow or hang up")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--scene", action="append", choices=[one.name for one in SCENES], metavar="NAME", help="repeatable")
    parser.add_argument("--out", type=Path, default=ROOT / "build/load", metavar="FOLDER", help="for load.json and load.png")
    parser.add_argument("--docs", action="store_true", help="write the figures and the picture into docs/load.md, too")
    parser.add_argument("--plant", choices=["database", "leak"], help="put a defect in: the database is killed, the server leaks")
    options = parser.parse_args()
    least = FEWEST_S * len(options.scene or SCENES)
    if (options.seconds or options.minutes * 60) < least:
        parser.error(f"at least {least:.0f} seconds: fewer samples tell nothing")
    for name in ("tribes", "agents", "lessons", "rate"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name}: must be above 0")
    return options


if __name__ == "__main__":
    sys.exit(main())
