"""Standard streams and arguments as UTF-8, whatever the console or the locale says."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence


def use_utf8() -> None:
    """Makes the standard streams speak UTF-8. What UTF-8 cannot say is written as an escape, never as an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")


def utf8_arguments(arguments: Sequence[str]) -> list[str]:
    """Returns the arguments decoded as UTF-8 where an ASCII locale left their bytes undecoded."""
    return [_utf8(argument) for argument in arguments]


def quiet_stdout() -> None:
    """Lets nobody's reader hear the rest: after a broken pipe the interpreter's own last flush must not fail as well."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _utf8(argument: str) -> str:
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument
