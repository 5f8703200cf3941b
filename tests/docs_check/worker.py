"""Runs a page's examples in Python one after another, in one set of names: `python worker.py`. Needs the standard library alone.

Each line of standard input names a file with an example, its page and line, and what to print once it has run.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any


def main() -> None:
    """Runs what it is told to until its input ends."""
    known: dict[str, Any] = {"__name__": "page"}
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            source = "\n" * asked["line"] + Path(asked["file"]).read_text(
                encoding="utf-8"
            )  # a failure then names the page's line
            exec(compile(source, asked["page"], "exec"), known)
            ended = 0
        except BaseException:  # whatever it is, the page's next examples may do all the same
            traceback.print_exc(limit=-1)
            ended = 1
        sys.stderr.flush()
        print(f"\n{asked['mark']} {ended}", flush=True)


if __name__ == "__main__":
    main()
