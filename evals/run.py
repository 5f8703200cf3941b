"""Scores judges, screens, searches and agents on labelled data: `python -m evals.run --tier offline`.

offline   models of this computer alone, no network, alike each time: the gate of CI (--check-baseline)
live      the models that the settings choose (TRIBUTARY_JUDGE and others), bounded by --limit and --max-usd
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from uuid import UUID

from rich.console import Console

from evals import baseline, models
from evals.bars import Bars
from evals.baseline import FILE
from evals.bench import Bench, Tier
from evals.charged import charged
from evals.figures import Measured, skipped
from evals.ground import lazy_ground
from evals.purse import Purse
from evals.report import Ran, document, show, show_compared, write
from evals.suites import SUITES, Suite
from tributary.core.errors import BadSetting, TributaryError
from tributary.core.evaluation import Evaluation, EvaluationRun
from tributary.core.ids import new_id
from tributary.service import Settings, load_settings, open_operator, over_a_wire

HELD, FELL, COULD_NOT_RUN = 0, 1, 3
WIDEST = 140
_DATABASES = ("--database", "--record")
"""Options whose address may hold a password."""


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _options(given)
    if options.report and find_spec("matplotlib") is None:  # before any model is asked and paid for
        print("--report draws pictures with matplotlib, which the extra `dev` brings: pip install -e '.[dev]'", file=sys.stderr)
        return COULD_NOT_RUN
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server and its home are cleared away
    console = Console(width=None if sys.stdout.isatty() else WIDEST)
    try:
        ran = _ran(options, "python -m evals.run " + " ".join(_telling(given)))
    except TributaryError as error:
        print(f"the evals could not be run: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    show(console, ran)
    for one in ran.measured if options.errors else ():
        console.print(
            *(f"{one.suite} {of.id} {of.said}" for of in one.wrong if of.split == options.errors), sep="\n", markup=False
        )
    if options.json:
        options.json.write_text(document(ran), encoding="utf-8")
    if options.report:
        console.print(f"report written to {write(ran, options.report)}", markup=False)
    if not any(one.metrics for one in ran.measured):
        print("nothing was measured", file=sys.stderr)
        return COULD_NOT_RUN
    return _beside_the_baseline(options, ran, console)


def _beside_the_baseline(options: argparse.Namespace, ran: Ran, console: Console) -> int:
    before = baseline.read(options.baseline)
    if options.update_baseline:
        baseline.write(baseline.updated(before, ran.measured), options.baseline)
        console.print(f"baseline written to {options.baseline}", markup=False)
    if not options.check_baseline:
        return HELD
    compared = baseline.compare(before, ran.measured)
    show_compared(console, compared)
    return FELL if any(one.standing.fails for one in compared) else HELD


def _ran(options: argparse.Namespace, command: str) -> Ran:
    tier = Tier(options.tier)
    chosen = models.local() if tier is Tier.OFFLINE else models.chosen(_live())
    run_id, at, purse = new_id(), datetime.now(UTC), Purse(options.max_usd)
    with lazy_ground(options.database, embedder=chosen.embedder, run_id=run_id) as ground, Bars() as progress:
        bench = Bench(
            tier=tier,
            models=charged(chosen, purse),
            open_ground=ground,
            progress=progress,
            purse=purse,
            limit=options.limit,
            keeps=bool(options.database or options.record),
        )
        names = dict.fromkeys(options.suite or ()) or [name for name in SUITES if tier is Tier.LIVE or name != "tiering"]
        measured = tuple(run_suite(bench, name) for name in names)
        ran = Ran(
            tier=tier,
            at=at,
            commit=commit(),
            command=command,
            models=chosen.versions(),
            measured=measured,
            stopped=tuple(bench.stopped),
            spent=_said(purse) if tier is Tier.LIVE else "",
            bills=purse.bills(),
        )
        if options.database:
            ground().operator.record_evaluation(_kept(ran, run_id))
    if options.record:
        with open_operator(Settings.model_validate({"TRIBUTARY_DATABASE_URL": options.record})) as operator:
            operator.record_evaluation(_kept(ran, run_id))
    return ran


def _kept(ran: Ran, run_id: UUID) -> EvaluationRun:
    found = tuple(
        Evaluation(suite=one.suite, metric=of.name, value=of.value, n=of.n, lower=of.lower, upper=of.upper, better=of.better)
        for one in ran.measured
        for of in (*one.metrics, *one.kept)
    )
    return EvaluationRun(run_id=run_id, at=ran.at, commit=ran.commit, tier=ran.tier.value, models=ran.models, found=found)


def _live() -> Settings:
    """Returns the settings; raises BadSetting when they choose nothing that the offline tier does not score."""
    settings = load_settings()
    if not over_a_wire(settings):
        raise BadSetting(
            "no live model is set up: set TRIBUTARY_JUDGE, TRIBUTARY_STRONG_JUDGE, TRIBUTARY_SCREEN, TRIBUTARY_DISTILLER or"
            " TRIBUTARY_EMBEDDER to a model over a wire, or use --tier offline"
        )
    return settings


def run_suite(bench: Bench, name: str, suites: Mapping[str, Suite] = SUITES) -> Measured:
    """Runs one suite; figures of no case are left out.

    Live a suite that fails is told as not measured, so that the money spent on the others is not lost, and so is one in which
    the judge, the screen, the embedder or the language model never answered: what is left is what their absence makes.
    """
    if not bench.purse.may_spend():
        return skipped(name, "--max-usd is spent")
    bench.progress.step(name)
    bench.purse.answers.clear()
    began = time.monotonic()
    try:
        measured = suites[name](bench)
    except TributaryError as error:
        if bench.tier is Tier.OFFLINE:
            raise
        measured = skipped(name, f"it failed: {error}")
    missing = bench.purse.answers.missing() if bench.tier is Tier.LIVE else None
    if missing is not None and measured.metrics:
        measured = skipped(name, missing)
    metrics = tuple(metric for metric in measured.metrics if metric.n)
    return replace(measured, metrics=metrics, seconds=time.monotonic() - began)


def commit() -> str:
    """Returns the commit of the code, with a mark where files differ from it; `unknown` outside of a checkout."""
    command = ["git", "describe", "--always", "--dirty=-changed", "--abbrev=12", "--exclude=*"]
    found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def _said(purse: Purse) -> str:
    spent = purse.spent()
    unpriced = f", {spent.unpriced} of them of unknown price" if spent.unpriced else ""
    return f"{spent.calls} calls of models, {spent.failed} of which failed{unpriced}: ${spent.cost_usd:.4f}."


def _telling(given: Sequence[str]) -> list[str]:
    """Returns the arguments without what is secret."""
    said = ["URL" if before in _DATABASES else one for before, one in zip(["", *given], given, strict=False)]
    return [f"{name}=URL" if (name := one.partition("=")[0]) in _DATABASES and name != one else one for one in said]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m evals.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 done, and every figure holds; 1 one fell; 2 a wrong argument; 3 nothing could be run or measured.",
    )
    parser.add_argument("--tier", choices=[one.value for one in Tier], required=True)
    parser.add_argument(
        "--suite", nargs="+", action="extend", choices=list(SUITES), metavar="NAME", help=f"only these: {', '.join(SUITES)}"
    )
    gate = parser.add_mutually_exclusive_group()
    gate.add_argument("--check-baseline", action="store_true", help="end with 1 when a figure fell by more than its tolerance")
    gate.add_argument("--update-baseline", action="store_true", help="make what was found the baseline")
    parser.add_argument("--baseline", type=Path, default=FILE, metavar="FILE", help="another baseline than the project's")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="write the run there, as Markdown with pictures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    parser.add_argument(
        "--errors",
        choices=("tune", "test", "live_only"),
        metavar="SPLIT",
        help="list what went wrong; look at tune, and leave test unread",
    )
    parser.add_argument("--database", metavar="URL", help="work there, and keep the figures of each run in its table evaluation")
    parser.add_argument(
        "--record",
        metavar="URL",
        help="keep the figures in that database, which may hold tribes, and work elsewhere",
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="live: at most N cases of each part of a suite")
    parser.add_argument("--max-usd", type=_dollars, metavar="USD", help="live: stop asking models once that much is spent")
    options = parser.parse_args(arguments)
    if options.tier == Tier.LIVE and (options.check_baseline or options.update_baseline):
        parser.error("the baseline is that of the offline tier: live figures change with the models that the settings choose")
    if options.tier == Tier.OFFLINE and (options.limit is not None or options.max_usd is not None):
        parser.error("--limit and --max-usd are for the live tier: offline nothing is paid for")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no folder {options.json.parent}")
    return options


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1_000_000):
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 1000000")
    return int(text)


def _dollars(text: str) -> Decimal:
    try:
        usd = Decimal(text)
    except InvalidOperation:
        usd = Decimal("NaN")
    if not (usd.is_finite() and 0 < usd <= 1_000_000):
        raise argparse.ArgumentTypeError("must be an amount above 0 and at most 1000000")
    return usd


if __name__ == "__main__":
    sys.exit(main())
