"""`python -m evals.gauntlet`: one agent learns, another does not repeat its mistakes, and the demo checks its own claim.

Exit codes: 0 every claim holds; 1 one does not; 2 a wrong argument; 3 the demo could not be run; 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from evals.gauntlet.processes import ProcessFailed
from evals.gauntlet.report import can_plot, print_report, write_plot
from evals.gauntlet.results import DemoReport
from evals.gauntlet.runner import run_demo
from evals.gauntlet.server import distiller_settings, own_server

DEFAULT_SEED = 7
NO_DISTILLER = (
    "--distil needs a language model: set TRIBUTARY_DISTILLER to bedrock, openai or claude, TRIBUTARY_DISTILLER_MODEL to its id,"
    " and its key or region (docs/settings.md)"
)
HELD, NOT_HELD, COULD_NOT_RUN, INTERRUPTED = 0, 1, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    plot: Path | None = options.plot
    if plot is not None:
        _check_plot(parser, plot)
    if options.distil and not os.environ.get("TRIBUTARY_DISTILLER"):
        parser.error(NO_DISTILLER)
    _replace_what_the_console_cannot_show()
    say = _Progress()
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _as_interrupt)
    try:
        with own_server(say=say, settings=distiller_settings(os.environ) if options.distil else None) as server:
            demo = run_demo(options.seed, server, say=say, distil=options.distil)
    except KeyboardInterrupt:
        say("interrupted; everything that was started is stopped again")
        return INTERRUPTED
    except ProcessFailed as error:
        say(f"the demo could not be run: {error}")
        return COULD_NOT_RUN
    if plot is not None:
        write_plot(demo, plot)
        say(f"plot written to {plot}")
    return tell(demo, as_json=options.json)


def tell(demo: DemoReport, *, as_json: bool) -> int:
    """Prints the report on standard output and returns the exit code that it deserves."""
    if as_json:
        print(demo.model_dump_json(indent=2))
    else:
        print_report(Console(), demo)
    return HELD if demo.passed else NOT_HELD


class _Progress:
    """Says a line on standard error as it is, whatever brackets it holds."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)

    def __call__(self, line: str) -> None:
        self._console.print(line, style="dim", markup=False, highlight=False, emoji=False, soft_wrap=True)


def _check_plot(parser: argparse.ArgumentParser, plot: Path) -> None:
    """Ends with a usage error before any work is done when the plot could not be written in the end."""
    if not can_plot():
        parser.error("--plot needs matplotlib: pip install matplotlib")
    if plot.suffix not in {".png", ".svg", ".pdf"}:
        parser.error(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    if not plot.parent.is_dir():
        parser.error(f"--plot {plot}: there is no folder {plot.parent}")


def _replace_what_the_console_cannot_show() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _as_interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evals.gauntlet",
        description=(
            "Sends two agents through the same simulated operations world, with a server of its own. agent-a walks into four "
            "traps and learns; agent-b recalls and walks into none; two controls show that memory made the difference."
        ),
        epilog="Exit codes: 0 every claim holds; 1 one does not; 2 a wrong argument; 3 could not be run; 130 interrupted.",
    )
    parser.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="which world to draw (default: %(default)s)")
    parser.add_argument(
        "--distil",
        action="store_true",
        help="have TRIBUTARY_DISTILLER find the lessons in transcripts of those who meet the traps",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON; progress goes to standard error")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="write the steps of each agent as a bar chart (matplotlib)")
    return parser


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return seed


if __name__ == "__main__":
    sys.exit(main())
