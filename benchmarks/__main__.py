"""Measures what the project promises of its speed, each figure beside a reference in the same run (docs/benchmarks.md).

    python -m benchmarks [--full] [--only NAME ...] [--to FOLDER] [--write-docs]
    python -m benchmarks --from FILE [--to FOLDER] [--write-docs]

Starts PostgreSQL servers of its own in temporary homes, with fsync on as users have it, and removes them afterwards. Writes
the figures as bench.json and bench-*.png into a folder (build/bench), and prints them as one table. Targets are those of the
project; a missed one is said and changes nothing else: figures depend on the machine and its load. A bench that fails is said
in the table, the others are run, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.benches import BENCHES
from benchmarks.page import IMAGES, write_page
from benchmarks.plot import draw
from benchmarks.progress import Progress
from benchmarks.report import Report, Surroundings, table
from benchmarks.running import Bench, run_all
from benchmarks.stage import Stage

LESSONS = 200_000
"""Half of them in one large tribe."""
FEWEST = 40_000
"""Half of them must be more than a tribe that is searched exactly, and the rest must leave the small tribes some."""
MOST, MOST_IN_FULL = 100_000, 1_000_000
"""To how many lessons a tribe grows."""
FOLDER = Path("build") / "bench"
WIDEST = 160


def main() -> int:
    options = _options()
    if options.list:
        Console(width=None if sys.stdout.isatty() else WIDEST).print("\n".join(_listed(BENCHES)), highlight=False)
        return 0
    if options.source:
        report = Report.of(json.loads(options.source.read_text(encoding="utf-8")))
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers and their homes are cleared away
        report = _run(options)
    _tell(report, options)
    return 1 if report.failed else 0


def chosen(benches: Sequence[Bench], *, only: Sequence[str] | None, full: bool) -> list[Bench]:
    """Returns the benches to be run: those named, else all, or all but what is left to a full run."""
    if only:
        return [bench for bench in benches if bench.name in only]
    return [bench for bench in benches if full or not bench.full]


def _run(options: argparse.Namespace) -> Report:
    benches = chosen(BENCHES, only=options.only, full=options.full)
    million = options.full or "million" in (options.only or ())
    most = options.most or (MOST_IN_FULL if million else MOST)
    surroundings = Surroundings.here(shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]))
    progress = Progress()
    with Stage(progress, lessons=options.lessons, most=most) as stage:
        ran = tuple(run_all(benches, stage))
    progress.step("done")
    ended = surroundings.ended(postgres=stage.postgres, pgvector=stage.pgvector, seconds=progress.seconds)
    return Report(surroundings=ended, ran=ran)


def _tell(report: Report, options: argparse.Namespace) -> None:
    Console(width=None if sys.stdout.isatty() else WIDEST).print(table(report))
    options.to.mkdir(parents=True, exist_ok=True)
    (options.to / "bench.json").write_text(json.dumps(report.document(), indent=1) + "\n", encoding="utf-8")
    pictures = draw(report, options.to)
    if options.write_docs:
        write_page(report, draw(report, IMAGES))
    print(f"written: {options.to / 'bench.json'}, {', '.join(picture.name for picture in pictures)}", file=sys.stderr)


def _listed(benches: Sequence[Bench]) -> list[str]:
    widest = max(len(bench.name) for bench in benches)
    return [
        f"{bench.name:<{widest}}  {bench.minutes:4.1f} min  {'full' if bench.full else '    '}  {bench.tells}"
        + (f"; needs {bench.needs}" if bench.needs else "")
        for bench in benches
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [bench.name for bench in BENCHES]
    parser.add_argument("--list", action="store_true", help="list the benches, and measure nothing")
    parser.add_argument("--full", action="store_true", help="all of them, and a tribe of a million lessons; about an hour")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="one bench; repeatable")
    parser.add_argument("--lessons", type=int, default=LESSONS, help=f"among many tribes, {LESSONS:,} by default")
    parser.add_argument("--most", type=int, help=f"to how many a tribe grows, {MOST:,} by default, {MOST_IN_FULL:,} with --full")
    parser.add_argument(
        "--to", type=Path, default=FOLDER, metavar="FOLDER", help=f"where figures are written, {FOLDER} by default"
    )
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="tell of an earlier run's bench.json instead")
    parser.add_argument("--write-docs", action="store_true", help="renew the table of docs/benchmarks.md and its pictures, too")
    options = parser.parse_args()
    if options.lessons < FEWEST:
        parser.error(f"--lessons: must be at least {FEWEST:,}, so that the large tribe outgrows exact search")
    return options


if __name__ == "__main__":
    sys.exit(main())
