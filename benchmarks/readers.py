"""Readers in a process of their own, so that they take no turns in Python with what is measured beside them."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from psycopg.rows import dict_row

from benchmarks.crowd import Slice, slice_of
from benchmarks.recall import Call
from tributary.store import Target, connect

READERS = 32
PATIENCE_S = 120


class Readers:
    """So many threads that each send the statements of recalls again and again, on a connection of its own.

    They are there, with connections that have been used, from the beginning of the block on. `go` has them begin, `result`
    waits for what they reached. What one of them raises is raised here.
    """

    def __init__(self, target: Target, calls: Sequence[Call], readers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_read, args=(there, target, list(calls), readers), daemon=True)
        self._process.start()
        there.close()

    def go(self, seconds: float) -> None:
        self._here.send(seconds)

    def result(self) -> Slice:
        found = self._received()
        assert isinstance(found, Slice)
        return found

    def _received(self) -> object:
        if not self._here.poll(PATIENCE_S):
            raise TimeoutError(f"the readers said nothing in {PATIENCE_S} s")
        try:
            said: object = self._here.recv()
        except EOFError:
            raise RuntimeError("the readers' process ended") from None
        if isinstance(said, Exception):
            raise said
        return said

    def __enter__(self) -> Self:
        self._received()  # that they are there
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._here.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _read(there: Connection, target: Target, calls: Sequence[Call], readers: int) -> None:
    """Is what the process does."""
    with ExitStack() as stack:
        try:
            acts = [_reading(stack, target, calls, number) for number in range(readers)]
            for act in acts:
                act()
            there.send(None)
            there.send(slice_of(acts, there.recv()))
        except EOFError:  # whom it reads beside has failed
            return
        except Exception as error:
            there.send(RuntimeError(f"a reader failed: {type(error).__name__}: {error}"))


def _reading(stack: ExitStack, target: Target, calls: Sequence[Call], number: int) -> Callable[[], object]:
    connection = stack.enter_context(connect(target))
    turns = itertools.cycle([*calls[number % len(calls) :], *calls[: number % len(calls)]])

    def read() -> object:
        return connection.cursor(row_factory=dict_row).execute(*next(turns)).fetchall()

    return read
