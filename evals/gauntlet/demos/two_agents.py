"""A then B: agent-a walks into the traps and learns; others hold what it taught, as a tool or in their prompt."""

from __future__ import annotations

import argparse

from evals.gauntlet import report
from evals.gauntlet.demos.base import Demo
from evals.gauntlet.runner import run_demo


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--distil",
        action="store_true",
        help="have TRIBUTARY_DISTILLER find the lessons in transcripts of those who meet the traps",
    )
    parser.add_argument("--model", action="store_true", help="have the model of TRIBUTARY_DISTILLER make every move")


DEMO = Demo(
    name="demo",
    summary="one agent learns, others do not repeat its mistakes: with memory as a tool, and in the prompt",
    run=lambda options, server, say: run_demo(options.seed, server, say=say, distil=options.distil, model=options.model),
    show=report.print_report,
    draw=report.write_plot,
    options=_options,
)
