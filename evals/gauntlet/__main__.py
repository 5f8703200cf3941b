"""`python -m evals.gauntlet [demo|poison|generations|chaos|time-travel|control]`: agents with shared memory, and without.

Each demo checks its own claims, the controls among them. Without a name it is `demo`: one agent learns, others don't repeat its
mistakes.

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
from typing import Any

from rich.console import Console

from evals.gauntlet.demos import chaos, generations, poison, restraint, time_travel, two_agents
from evals.gauntlet.demos.base import Demo
from evals.gauntlet.pictures import can_plot
from evals.gauntlet.processes import ProcessFailed
from evals.gauntlet.results import Claimed
from evals.gauntlet.server import distiller_settings, own_server
from tributary.client import TributaryError

DEFAULT_SEED = 7
DEMOS: tuple[Demo[Any], ...] = (
    two_agents.DEMO,
    poison.DEMO,
    generations.DEMO,
    chaos.DEMO,
    time_travel.DEMO,
    restraint.DEMO,
)
NO_MODEL = (
    "{option} needs a language model: set TRIBUTARY_DISTILLER to bedrock, openai or claude, TRIBUTARY_DISTILLER_MODEL to its id,"
    " and its key or region (docs/settings.md)"
)
HELD, NOT_HELD, COULD_NOT_RUN, INTERRUPTED = 0, 1, 3, 130
_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    names = {demo.name for demo in DEMOS}
    if not given or (given[0] not in names and given[0] not in _HELP and given[0].startswith("-")):
        given = [two_agents.DEMO.name, *given]
    parser = _parser()
    options = parser.parse_args(given)
    demo: Demo[Any] = options.demo
    _check(options.parser, options)
    _replace_what_the_console_cannot_show()
    say = _Progress()
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _as_interrupt)
    model = distiller_settings(os.environ)
    try:
        with own_server(say=say, settings=model if options.distil else None, model=model if options.model else None) as server:
            result: Claimed = demo.run(options, server, say)
    except KeyboardInterrupt:
        say("interrupted; everything that was started is stopped again")
        return INTERRUPTED
    except (ProcessFailed, TributaryError) as error:
        say(f"the demo could not be run: {error}")
        return COULD_NOT_RUN
    if options.plot is not None:
        demo.draw(result, options.plot)
        say(f"plot written to {options.plot}")
    return tell(demo, result, as_json=options.json)


def tell(demo: Demo[Any], result: Claimed, *, as_json: bool) -> int:
    """Prints the report on standard output and returns the exit code that it deserves."""
    if as_json:
        print(result.model_dump_json(indent=2))
    else:
        demo.show(Console(), result)
    return HELD if result.passed else NOT_HELD


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Ends with a usage error before any work is done when the demo could not be run, or not plotted, in the end."""
    if options.plot is not None:
        _check_plot(parser, options.plot)
    for option in ("distil", "model"):
        if getattr(options, option) and not os.environ.get("TRIBUTARY_DISTILLER"):
            parser.error(NO_MODEL.format(option=f"--{option}"))


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
    ends = "Exit codes: 0 every claim holds; 1 one does not; 2 a wrong argument; 3 could not be run; 130 interrupted."
    parser = argparse.ArgumentParser(
        prog="python -m evals.gauntlet",
        description=(
            "Sends agents through a simulated operations world, with a server of its own. Each demo has controls that show that"
            " memory made the difference."
        ),
        epilog=f"Without a name it is {two_agents.DEMO.name}. {ends}",
    )
    several = parser.add_subparsers(metavar="NAME", required=True)
    for demo in DEMOS:
        its = several.add_parser(demo.name, help=demo.summary, description=f"Shows this: {demo.summary}.", epilog=ends)
        its.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="which world to draw (default: %(default)s)")
        its.add_argument("--json", action="store_true", help="print the figures as JSON; progress goes to standard error")
        its.add_argument("--plot", type=Path, metavar="FILE.png", help="write a picture of what was found (matplotlib)")
        its.set_defaults(demo=demo, parser=its, distil=False, model=False)
        demo.options(its)
    return parser


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return seed


if __name__ == "__main__":
    sys.exit(main())
