"""Measures recall on runbooks that nobody here wrote, beside what vectors and terms find alone.

    python -m evals.retrieval [--runbooks FOLDER] [--json FILE] [--plot FILE] [--errors SPLIT]

Starts a PostgreSQL of its own in a temporary home and removes it afterwards; takes about a minute. Exit codes: 0 recall beats
each side alone on the test split and never shows what was replaced; 1 it does not; 2 a wrong argument, or the runbooks are
absent.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.ground import open_ground
from benchmarks.progress import Progress
from evals import runbooks
from evals.retrieval.library import NoConflicts, fill
from evals.retrieval.plot import draw
from evals.retrieval.questions import SPLITS, load
from evals.retrieval.report import document, errors, tables
from evals.retrieval.suite import Report, run
from tributary.models.embedders import MiniLmEmbedder

HOLDS, DOES_NOT, ABSENT = 0, 1, 2
WIDEST = 140


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    if not options.runbooks.is_dir():
        print(f"{runbooks.ABSENT}: lay them at {options.runbooks} to measure retrieval", file=sys.stderr)
        return ABSENT
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server and its home are cleared away
    report = _measured(options.runbooks, Progress())
    console = Console(width=None if sys.stdout.isatty() else WIDEST)
    for table in tables(report):
        console.print(table)
    if options.errors:
        console.print(*errors(report, options.errors), sep="\n", markup=False)
    if options.json:
        options.json.write_text(json.dumps(document(report), indent=1) + "\n", encoding="utf-8")
    if options.plot:
        draw(report, options.plot)
    return HOLDS if report.holds else DOES_NOT


def _measured(folder: Path, progress: Progress) -> Report:
    embedder = MiniLmEmbedder(threads=2)
    progress.step("starting a database")
    with open_ground() as ground, ground.memory(embedder, connections=4, judge=NoConflicts()) as memory:
        tribe = ground.create_tribe("runbooks")
        importer = ground.create_writer(tribe, "importer")
        found = list(runbooks.sections(folder))
        library = fill(memory, importer=importer, curator=tribe.curator, sections=found, progress=progress)
        report = run(library, load(), embedder, progress)
    progress.step("done")
    return report


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m evals.retrieval", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runbooks", type=Path, default=runbooks.FOLDER, metavar="FOLDER", help="where they are, else beside the project"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the test split's figures there, as PNG")
    parser.add_argument("--errors", choices=SPLITS, metavar="SPLIT", help="also list what recall missed of a split (use: tune)")
    options = parser.parse_args(arguments)
    for file in (options.json, options.plot):
        if file is not None and not file.parent.is_dir():
            parser.error(f"{file}: there is no folder {file.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
