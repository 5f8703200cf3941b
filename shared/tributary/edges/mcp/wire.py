"""Standard input and output kept for the protocol: whatever else is printed, by whom it may be, goes to standard error."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_CHUNK = 65_536
_STANDARD = 3
MOST_BYTES = 10_000_000
"""The longest line that is read: what one message may be, as over HTTP."""


_TOO_LONG = json.dumps(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": f"A message may have {MOST_BYTES} bytes at most."}}
)


class TooLong(Exception):
    """A line is longer than any message may be."""


@dataclass
class Wire:
    """Two descriptors that nobody else has: lines come in, lines go out. One thread reads, any may write."""

    incoming: int
    outgoing: int
    _rest: bytearray = field(default_factory=bytearray)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    _signals: int | None = None
    """Becomes readable when a signal comes."""

    def read_line(self) -> bytes | None:
        """Waits for the next line and returns it without its end, None when the other side has closed.

        Raises TooLong once the end of a line came that is too long, of which no more than that is held.
        """
        too_long = False
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > MOST_BYTES:
                too_long = True
            if too_long:
                self._rest.clear()
            self._await_input()
            chunk = os.read(self.incoming, _CHUNK)
            if not chunk:
                last, self._rest = bytes(self._rest), bytearray()
                return None if too_long else last or None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        if too_long:
            raise TooLong
        return line.removesuffix(b"\r")

    def _await_input(self) -> None:
        while self._signals is not None:
            readable, _, _ = select.select([self.incoming, self._signals], [], [])
            if self._signals not in readable:
                return
            os.read(self._signals, _CHUNK)  # its handler runs before the next line

    @contextmanager
    def woken_by_signals(self) -> Iterator[None]:
        """Lets the handler of a signal run while a line is waited for, whenever it comes. For the main thread only.

        Without it, a signal is forgotten that comes when the read is about to block, or to another thread.
        """
        self._signals, told = os.pipe()
        os.set_blocking(told, False)
        before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            os.close(self._signals)
            os.close(told)
            self._signals = None

    def read_message(self) -> bytes | None:
        """Waits for the next line that is not too long; whoever sends one that is, is told, and goes on. Raises OSError."""
        while True:
            try:
                return self.read_line()
            except TooLong:
                self.write_line(_TOO_LONG)

    def write_line(self, line: str) -> None:
        """Writes a line whole; raises OSError (BrokenPipeError) when nobody reads any more."""
        left = memoryview(line.encode("utf-8") + b"\n")
        with self._writing:
            while left:
                left = left[os.write(self.outgoing, left) :]


def claim() -> Wire:
    """Takes standard input and output away from the process and returns them.

    From then on descriptor 0 is empty, which children inherit, and what is written to descriptor 1, by Python, a library in C
    or a child, comes out on standard error.
    """
    incoming, outgoing = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _STANDARD) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Wire(incoming, outgoing)
