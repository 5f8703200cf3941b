"""An agent with one irreversible thing to do: `python -m evals.gauntlet.payer --seed 7 --name a --effects FILE`.

It pays the invoice of its seed: a line in FILE, which nothing takes back. With a seat at a tribe it does so by `memory.once`,
under a key that whoever means the same payment makes alike; without one it just pays. Its report is one line of JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.gauntlet.agent import hold
from evals.gauntlet.names import AREAS, Draw
from evals.gauntlet.results import Report
from tributary.client import InDoubt, Memory, TributaryError, visible

LEASE_S = 1
"""Short, so that whoever follows a killed agent need not wait long to learn that its payment is in doubt."""
WAIT_S = 30.0


class PayerReport(Report):
    """How the payment stands for this agent: `paid` with the receipt, by it or by another, or `in doubt`."""

    agent: str
    outcome: str
    receipt: str | None


def key_of(seed: int) -> str:
    """Returns the key of the one payment of this seed."""
    draw = Draw(seed)
    return f"pay:{draw.one(AREAS)}:{draw.number(1000, 9999)}"


def effects_in(file: Path) -> int:
    """Returns how often it was paid."""
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    key = key_of(options.seed)

    def pay() -> str:
        with options.effects.open("a", encoding="utf-8") as effects:
            effects.write(f"{key} by {options.name}\n")
        if options.hold:
            hold()
        return f"receipt-{effects_in(options.effects)}"

    try:
        report = _paid(key, pay, options)
    except TributaryError as error:
        print(f"the memory failed: {visible(str(error))}", file=sys.stderr)
        return 1
    print(report.model_dump_json())
    return 0


def _paid(key: str, pay: Callable[[], str], options: argparse.Namespace) -> PayerReport:
    if not options.recall:
        return PayerReport(agent=options.name, outcome="paid", receipt=pay())
    with Memory() as memory:
        try:
            receipt = memory.once(key, pay, lease_s=LEASE_S, wait_s=WAIT_S)
        except InDoubt:
            return PayerReport(agent=options.name, outcome="in doubt", receipt=None)
    return PayerReport(agent=options.name, outcome="paid", receipt=str(receipt))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.gauntlet.payer", description="Pays one invoice.")
    parser.add_argument("--seed", type=int, required=True, help="whose invoice to pay")
    parser.add_argument("--name", required=True, help="how the report calls this agent")
    parser.add_argument("--run", default="gauntlet", help="names this run")
    parser.add_argument("--effects", type=Path, required=True, help="the file in which each payment is a line")
    parser.add_argument("--hold", action="store_true", help="stand still for ever once it is paid, before that is told")
    parser.add_argument("--no-recall", dest="recall", action="store_false", help="pay without a ledger of actions")
    return parser


if __name__ == "__main__":
    sys.exit(main())
