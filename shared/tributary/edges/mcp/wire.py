"""Standard input and output kept for the protocol: whatever else is printed, by whom it may be, goes to standard error."""

from __future__ import annotations

import fcntl
import os
import threading
from dataclasses import dataclass, field

_CHUNK = 65_536
_STANDARD = 3
MOST_BYTES = 10_000_000
"""The longest line that is read: what one message may be, as over HTTP."""


class TooLong(Exception):
    """A message is longer than any may be."""


@dataclass
class Wire:
    """Two descriptors that nobody else has: lines come in, lines go out. One thread reads, any may write."""

    incoming: int
    outgoing: int
    _rest: bytearray = field(default_factory=bytearray)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def read_line(self) -> bytes | None:
        """Waits for the next line and returns it without its end, None when the other side has closed; raises TooLong."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > MOST_BYTES:
                raise TooLong
            chunk = os.read(self.incoming, _CHUNK)
            if not chunk:
                last, self._rest = bytes(self._rest), bytearray()
                return last or None
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line.removesuffix(b"\r")

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
