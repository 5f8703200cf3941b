"""Runs README and the pages as somebody new would: `python -m tests.docs_check [--page PAGE ...]`.

Ends with 1 when a block failed. What each fence and each comment above one means is told in docs/contributing.md.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

from tests.docs_check.blocks import REASONS, blocks, pages, read
from tests.docs_check.machine import Busy, machine
from tests.docs_check.reader import README, Reader
from tests.docs_check.references import links


def in_order() -> list[str]:
    """Returns the pages in the order in which README's table leads to them, then those to which other pages lead."""
    using = read(README).partition("\n## Using it")[2]
    return list(dict.fromkeys([page for page in links(README, using) if page in pages()] + pages()[1:]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what is asked for, prints what became of it, and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs_check", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--page", nargs="+", metavar="PAGE", help="README, and of the pages only these, such as docs/sdk.md")
    options = parser.parse_args(arguments)
    asked = [page for page in in_order() if options.page is None or page in options.page]
    unknown = set(options.page or ()) - {README, *asked}
    if unknown:
        parser.error(f"there is no page {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, _interrupted)
    began = time.monotonic()
    try:
        texts = {page: read(page) for page in pages()}  # as they are in the clone, whatever is edited meanwhile
        with machine() as new, Reader(new, texts) as reader:
            uncommitted = f", with {new.changes} files that are not committed yet" if new.changes else ""
            print(
                f"a clone of HEAD{uncommitted}; an empty home; of variables PATH, LANG and what leads to the package index",
                flush=True,
            )
            if reader.read(README):
                for page in asked:
                    if any(block.is_run or block.reason for block in blocks(page, texts[page])):
                        reader.read(page)
            for line in _table(reader):
                print(line)
    except Busy as busy:
        print(busy, file=sys.stderr)
        return 2
    print(f"\n{time.monotonic() - began:.0f} s; {f'{len(reader.failures)} failed' if reader.failures else 'nothing failed'}")
    for failure in reader.failures:
        print(f"  {failure}")
    return 1 if reader.failures else 0


def _table(reader: Reader) -> Sequence[str]:
    columns = ("ok", "failed", "not run", "shown")
    rows = [f"\n{'page':34}{''.join(f'{name:>9}' for name in columns)}{'seconds':>9}"]
    for page, counted in reader.ended.items():
        rows.append(f"{page:34}{''.join(f'{counted[name]:9}' for name in columns)}{reader.seconds.get(page, 0.0):9.1f}")
    rows.append("\nnot run, and why:")
    rows += [
        f"  {reader.reasons[reason]:3}  {reason}: {meaning}" for reason, meaning in REASONS.items() if reader.reasons[reason]
    ]
    return rows


def _interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
