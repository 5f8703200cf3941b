"""Lines of a stream, as they come, none of them longer than is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

LINE_BYTES = 1024 * 1024
"""The longest line that is read: all fields of a lesson at their limits, in escapes, several times over."""


class ByteSource(Protocol):
    """What is read from: an open file, or something that counts what is read of one."""

    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


def bounded_lines(stream: ByteSource) -> Iterator[bytes | None]:
    """Yields each line as soon as it is there, without its end; None for one that is too long."""
    while line := stream.readline(LINE_BYTES + 1):
        if len(line) <= LINE_BYTES or line.endswith(b"\n"):
            yield line.removesuffix(b"\n").removesuffix(b"\r")
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LINE_BYTES)
        yield None
