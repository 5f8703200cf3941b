"""Measures Tributary, its peers and plain SQL side by side, and writes the figures wherever they are wanted.

    python -m benchmarks.peers [--lessons N] [--json FILE] [--plot FILE] [--page FILE]

`make bench-peers` installs the peers first and writes docs/benchmarks/peers.md and its picture. `--plot` draws this bench's own
picture; `python -m benchmarks --only peers` gives the same figures in the table of all benches.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.peers import page, picture
from benchmarks.peers.bench import LESSONS, LIMIT, run
from benchmarks.peers.figures import measured
from benchmarks.progress import Progress
from benchmarks.report import Report, Surroundings, table
from benchmarks.running import Ran

WIDEST = 160
FEWEST = LIMIT * 100
"""So that ten are left by the filter that lets 1 in 100 through."""


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers and scratch folders are cleared away
    surroundings = Surroundings.here(shlex.join(["python", "-m", "benchmarks.peers", *sys.argv[1:]]))
    progress = Progress()
    done = run(progress, lessons=options.lessons)
    progress.step("done")
    surroundings = surroundings.ended(postgres=done.postgres, pgvector=done.pgvector, seconds=progress.seconds)
    report = Report(surroundings=surroundings, ran=[Ran(name="peers", seconds=progress.seconds, measured=measured(done))])
    Console(width=None if sys.stdout.isatty() else WIDEST).print(table(report))
    if options.json:
        options.json.write_text(json.dumps(report.document(), indent=1) + "\n", encoding="utf-8")
    if options.plot:
        picture.draw(done, surroundings, options.plot)
    if options.page:
        page.write(done, surroundings, options.page)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lessons", type=int, default=LESSONS, help=f"at the start, {LESSONS:,} by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure and sample there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the figures there, as PNG")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the figures into this Markdown page, between its marks")
    options = parser.parse_args()
    if options.lessons < FEWEST:
        parser.error(f"--lessons: must be at least {FEWEST:,}, so that a filter which lets 1 in 100 through leaves {LIMIT}")
    return options


if __name__ == "__main__":
    sys.exit(main())
