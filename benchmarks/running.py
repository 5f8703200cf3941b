"""Runs benches one after another. One that fails is a line of the table like the others, and keeps none of them from running."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchmarks.figures import Measured
from benchmarks.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One entry of the table of benches (`benchmarks/benches.py`)."""

    name: str
    tells: str
    needs: str = ""
    """What it takes besides a PostgreSQL that it starts."""
    minutes: float
    """On two quiet cores, about."""
    full: bool = False
    """Whether it is left to `make bench-full`."""
    shares: str = ""
    """The database that it shares with its neighbours in the table; it is cleared away where the next one shares another."""
    measure: Callable[[Stage], Measured]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What became of one bench: what it measured, or else why it could not."""

    name: str
    seconds: float
    measured: Measured | None = None
    error: str | None = None

    def document(self) -> dict[str, object]:
        measured = None if self.measured is None else self.measured.document()
        return {"name": self.name, "seconds": round(self.seconds, 1), "error": self.error, "measured": measured}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Returns the outcome that a document tells of."""
        measured = None if document["measured"] is None else Measured.of(document["measured"])
        return cls(name=document["name"], seconds=document["seconds"], measured=measured, error=document["error"])


def run_all(benches: Sequence[Bench], stage: Stage) -> Iterator[Ran]:
    """Yields what becomes of each bench, in their order."""
    shared = ""
    for bench in benches:
        if bench.shares != shared:
            stage.leave()
            shared = bench.shares
        yield _run(bench, stage)


def _run(bench: Bench, stage: Stage) -> Ran:
    began = time.monotonic()
    try:
        measured = bench.measure(stage)
    except Exception as error:
        stage.progress.step(f"{bench.name} FAILED\n{traceback.format_exc()}")
        return Ran(name=bench.name, seconds=time.monotonic() - began, error=f"{type(error).__name__}: {error}")
    return Ran(name=bench.name, seconds=time.monotonic() - began, measured=measured)
