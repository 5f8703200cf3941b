"""Measures what the project promises of its speed, each figure beside a reference in the same run.

    python -m benchmarks [--only NAME ...] [--lessons N] [--json FILE] [--plot FILE]

Starts a PostgreSQL of its own in a temporary home, with fsync on as users have it, and removes it afterwards. Takes some minutes.
Targets are those of the project; a missed one is said and changes nothing else: figures depend on the machine and its load.
`--only million` is measured when asked for alone: it fills one tribe with a million lessons and takes about 20 minutes; so is
`--only footprint`, which weighs lessons, tribes and indexes for docs/scale.md, in two minutes. `--only coldstart` is measured
when asked for: it builds the Lambda layer, and needs PgBouncer. So is `--only peers`, on a server of its own: it needs what
`make bench-peers` installs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import (
    coldstart,
    embedding,
    footprint,
    handler_import,
    learn,
    million,
    models,
    narrowed,
    pages,
    peers,
    recall,
    writers,
)
from benchmarks.corpus import embed_material
from benchmarks.figures import Measured
from benchmarks.ground import open_ground
from benchmarks.plot import draw
from benchmarks.progress import Progress
from benchmarks.report import Surroundings, document, table

LESSONS = 200_000
"""Half of them in one large tribe."""
FEWEST = 40_000
"""Half of them must be more than a tribe that is searched exactly, and the rest must leave the small tribes some."""
IN_A_TOWN = ("recall", "learn", "pages", "narrowed")
"""What needs a large tribe and many small ones."""
ON_A_GROUND = (*IN_A_TOWN, "writers")
NAMES = (*ON_A_GROUND, "import", "embedding", "judging")
COLDSTART = "coldstart"
PEERS = "peers"
MILLION = "million"
FOOTPRINT = "footprint"
ALONE = (MILLION, FOOTPRINT)
"""What takes a database of its own."""
WIDEST = 160


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server and its home are cleared away
    progress = Progress()
    load_before = os.getloadavg()[0]
    measured, postgres, pgvector = _measured(options, progress)
    progress.step("done")
    surroundings = Surroundings(
        lessons=options.lessons,
        postgres=postgres,
        pgvector=pgvector,
        load_before=load_before,
        load_after=os.getloadavg()[0],
        seconds=progress.seconds,
    )
    console = Console(width=None if sys.stdout.isatty() else WIDEST)
    console.print(table(measured, surroundings))
    if options.json:
        options.json.write_text(json.dumps(document(measured, surroundings), indent=1) + "\n", encoding="utf-8")
    if options.plot:
        draw(measured, surroundings, options.plot)
    return 0


def _measured(options: argparse.Namespace, progress: Progress) -> tuple[list[Measured], str | None, str | None]:
    """Returns what was chosen to be measured, in the table's order, and the versions of PostgreSQL and pgvector if they ran."""
    if options.only == [MILLION]:
        material = million.material_for(options.lessons, progress)
        with open_ground() as ground:
            measured = million.measure(ground, material, options.lessons, progress)
            return [measured], ground.server_version, ground.pgvector_version
    if options.only == [FOOTPRINT]:
        progress.step("embedding sentences to make lessons of")
        sentences = embed_material()
        with open_ground() as ground:
            return [footprint.measure(ground, sentences, progress)], ground.server_version, ground.pgvector_version
    chosen = [name for name in NAMES if not options.only or name in options.only]
    alone = list(_without_a_ground([*chosen, *(options.only or ())], progress))
    if not set(chosen) & set(ON_A_GROUND):
        return alone, None, None
    progress.step("embedding sentences to make lessons of")
    material = embed_material()
    found: list[Measured] = []
    with open_ground() as ground:
        if set(chosen) & set(IN_A_TOWN):
            town = recall.build_town(ground, material, options.lessons, progress)
            if "recall" in chosen:
                found.append(recall.measure(town, progress))
            if "learn" in chosen:
                found.append(learn.measure(ground, material, town.large, progress))
            if "pages" in chosen:
                found.append(pages.measure(town, progress))
            if "narrowed" in chosen:  # last, since it ends lessons
                found.append(narrowed.measure(town, progress))
        if "writers" in chosen:
            found.append(writers.measure(ground, material, progress))
        return [*found, *alone], ground.server_version, ground.pgvector_version


def _without_a_ground(chosen: Sequence[str], progress: Progress) -> Iterator[Measured]:
    if "import" in chosen:
        yield handler_import.measure(progress)
    if COLDSTART in chosen:
        yield coldstart.measure(progress)
    if PEERS in chosen:
        yield peers.measure(progress)
    if "embedding" in chosen:
        yield embedding.measure(progress)
    if "judging" in chosen:
        yield models.measure(progress)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = (*NAMES, COLDSTART, PEERS, *ALONE)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of {', '.join(names)}; repeatable")
    parser.add_argument("--lessons", type=int, help=f"on the tables, {LESSONS:,} by default, with {MILLION} {million.LESSONS:,}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure and sample there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the figures there, as PNG")
    options = parser.parse_args()
    for name in ALONE:
        if name in (options.only or ()) and options.only != [name]:
            parser.error(f"--only {name}: takes a database of its own, so it is measured alone")
    if options.lessons is None:
        options.lessons = million.LESSONS if options.only == [MILLION] else LESSONS
    if options.lessons < FEWEST:
        parser.error(f"--lessons: must be at least {FEWEST:,}, so that the large tribe outgrows exact search")
    for file in (options.json, options.plot):
        if file is not None and not file.parent.is_dir():
            parser.error(f"{file}: there is no folder {file.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
