"""Says on standard error how far a run is: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bars:
    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=self._console, disable=not self._console.is_terminal, transient=True)
        self._task: TaskID | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()

    def begin(self, doing: str, total: int) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(doing, total=total)
        self.step(f"{doing} ({total})")

    def advance(self) -> None:
        if self._task is not None:
            self._bars.advance(self._task)

    def step(self, doing: str) -> None:
        line = f"{time.monotonic() - self._began:5.0f} s  {doing}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
