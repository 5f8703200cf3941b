"""python -m tests.gates [NAME ...] [--stale] [--list]: takes gates out one at a time and demands that their controls go red."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.gates.gate import ROOT, Group, RottenError, named
from tests.gates.page import PAGE, Seen, read_seen, write_page
from tests.gates.table import GROUPS
from tests.gates.taking_out import Outcome, take_out

REPORT = ROOT / "build" / "gates" / "gates.json"


def main(arguments: Sequence[str], groups: Sequence[Group] = GROUPS, page: Path = PAGE, report: Path = REPORT) -> int:
    """Returns 0 when each gate was seen failing, 1 when one was not, 2 when the table says what is not so of the tree."""
    parser = argparse.ArgumentParser(prog="python -m tests.gates", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these gates only")
    parser.add_argument(
        "--stale", action="store_true", help="only those whose guard or control changed since they were last seen failing"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the gates")
    asked = parser.parse_args(arguments)
    try:
        gates = named(groups, asked.names)
        seen = read_seen(page)
        if asked.stale:
            gates = [gate for gate in gates if gate.name not in seen or seen[gate.name].proof != gate.fingerprint()]
        if asked.list or not gates:
            _say("\n".join(gate.name for gate in gates) or "every gate was seen failing as it is now")
            return 0
        outcomes: list[Outcome] = []
        for outcome in take_out(gates, _say):
            outcomes.append(outcome)
            _record(outcomes, groups, page, report)  # each time, so that a run that is broken off says what it saw
    except RottenError as rotten:
        _say(str(rotten))
        return 2
    except KeyboardInterrupt:
        _say("broken off; what was seen until then is written down")
        return 130
    missed = [outcome for outcome in outcomes if not outcome.seen]
    _say(f"{len(outcomes) - len(missed)} of {len(outcomes)} gates seen failing; {_shown(page)} and {_shown(report)} say so")
    for outcome in missed:
        _say(f"{outcome.gate.name}: {outcome.trouble}")
    return 1 if missed else 0


def _record(outcomes: list[Outcome], groups: Sequence[Group], page: Path, report: Path) -> None:
    day, commit = datetime.now(UTC).date().isoformat(), _commit()
    seen, newest = read_seen(page), outcomes[-1]
    seen.pop(newest.gate.name, None)
    if newest.seen:
        seen[newest.gate.name] = Seen(day=day, commit=commit, proof=newest.proof)
    write_page(groups, seen, page)
    report.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "gate": outcome.gate.name,
            "seen": outcome.seen,
            "trouble": outcome.trouble,
            "tests": outcome.gate.tests,
            "messages": outcome.messages,
            "seconds": round(outcome.seconds, 1),
            "proof": outcome.proof,
        }
        for outcome in outcomes
    ]
    report.write_text(json.dumps({"day": day, "commit": commit, "gates": rows}, indent=1) + "\n")


def _commit() -> str:
    """Returns the commit that the tree is at, with a + when something that git has was changed since."""
    head = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    changes = ["git", "status", "--porcelain", "--", ".", ":!docs/gates.md"]
    changed = subprocess.run(changes, cwd=ROOT, check=True, capture_output=True, text=True)
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
