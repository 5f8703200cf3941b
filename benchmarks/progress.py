"""Says on standard error what is being measured."""

from __future__ import annotations

import sys
import time


class Progress:
    """One line a step, with the seconds since the start."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def step(self, doing: str) -> None:
        print(f"{self.seconds:5.0f} s  {doing}", file=sys.stderr, flush=True)
