"""Turns cases of the review queue into golden rows, by a curator's word; needs TRIBUTARY_URL and TRIBUTARY_TOKEN of one.

python -m evals.review list [--state open|accepted|rejected|any] [--json]
python -m evals.review show ID
python -m evals.review accept ID [--label L] [--tags a,b] [--split tune|test] [--code C] [--field F] [--yes]
python -m evals.review edit ID --label L ...       the same, with another label than the signal's
python -m evals.review reject ID [--reason TEXT]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from evals.review.desk import Desk, Queue
from evals.review.golden import Golden
from evals.review.rows import FIELDS, SPLITS, CannotAccept, Row, Wanted, warnings
from evals.review.words import list_line, row_lines, show_lines
from tributary.client import Memory, TributaryError, visible
from tributary.models.screens.rules import Reason

STATES = ("open", "accepted", "rejected", "any")
REFUSED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command against the server that the environment names; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        with Memory() as memory:
            return run(options, memory.curation, Golden())
    except TributaryError as error:
        return _refuse(error.detail)


def run(options: argparse.Namespace, queue: Queue, golden: Golden, ask: Callable[[str], str] = input) -> int:
    """Runs one command; returns the exit code. `ask` asks a person."""
    desk = Desk(queue=queue, golden=golden)
    try:
        _say(desk.set_right())
        _say(_COMMANDS[options.command](desk, options, ask))
    except (CannotAccept, TributaryError) as error:
        return _refuse(str(error))
    return 0


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m evals.review", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("list", help="list cases, newest first")
    listed.add_argument("--state", choices=STATES, default="open")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    for name, help_ in (
        ("show", "show one case"),
        ("accept", "make a case a golden row, labelled as the signal says"),
        ("edit", "make a case a golden row with another label"),
        ("reject", "take a case off the queue: it teaches nothing"),
    ):
        command = commands.add_parser(name, help=help_)
        command.add_argument("id", metavar="ID", help="rev_...")
        if name in ("accept", "edit"):
            command.add_argument("--label", required=name == "edit", help="same|conflicts|unrelated, or attack|benign")
            command.add_argument("--tags", default="", help="comma-separated")
            command.add_argument("--split", choices=SPLITS, default="tune")
            command.add_argument(
                "--code", choices=[reason.value for reason in Reason], help="what an attack is, if rules miss it"
            )
            command.add_argument("--field", choices=FIELDS, default="text", help="which field of a screened lesson the row holds")
            command.add_argument(
                "--yes", action="store_true", help="ask only where the row seems to hold a secret or personal data"
            )
        if name == "reject":
            command.add_argument("--reason", help="why it teaches nothing")
    return made


def _list(desk: Desk, options: argparse.Namespace, _: Callable[[str], str]) -> list[str]:
    cases = desk.queue.reviews(options.state)
    lines = [case.model_dump_json() if options.json else list_line(case) for case in cases]
    return lines if lines or options.json else ["There is no such case."]


def _show(desk: Desk, options: argparse.Namespace, _: Callable[[str], str]) -> list[str]:
    return show_lines(desk.find(options.id))


def _accept(desk: Desk, options: argparse.Namespace, ask: Callable[[str], str]) -> list[str]:
    tags = tuple(tag.strip() for tag in options.tags.split(",") if tag.strip())
    wanted = Wanted(label=options.label, tags=tags, split=options.split, code=options.code, field=options.field)

    def confirm(row: Row) -> bool:
        _say(row_lines(row))
        if options.yes and not warnings(row):
            return True
        try:
            return ask("Put it there? [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            return False

    return desk.accept(options.id, wanted, confirm)


def _reject(desk: Desk, options: argparse.Namespace, _: Callable[[str], str]) -> list[str]:
    return desk.reject(options.id, options.reason)


_COMMANDS = {"list": _list, "show": _show, "accept": _accept, "edit": _accept, "reject": _reject}


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(line)


def _refuse(detail: str) -> int:
    sys.stderr.write(f"Error: {visible(detail)}\n")
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
