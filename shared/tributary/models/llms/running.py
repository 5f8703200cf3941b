"""Runs a foreign program for one answer, bounded in time and output; its process group ends with it.

A process that it starts and that leaves that group (`setsid`) is not known here, and lives on.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tributary.core.errors import ModelFailed, ModelMalformed, ModelTimedOut

_CHUNK = 65536
_LOOK_EVERY_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a program ended, and what it wrote on standard output."""

    code: int
    output: bytes


def run(
    command: Sequence[str], *, given: bytes, environment: Mapping[str, str], folder: Path, timeout_s: float, most_bytes: int
) -> Ran:
    """Runs `command` in `folder` with `given` on its standard input, which then ends.

    Its standard error is thrown away. It gets a process group of its own, which is killed as a whole when the program has
    ended, is late or writes too much. Raises ModelTimedOut, ModelMalformed on more than `most_bytes`, and ModelFailed when it
    cannot be started.
    """
    until = time.monotonic() + timeout_s
    try:
        process = subprocess.Popen(  # noqa: S603  (the operator names the program; no shell reads the rest)
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise ModelFailed(f"the program cannot be started ({type(error).__name__})") from None
    try:
        return _exchange(process, given, until=until, timeout_s=timeout_s, most_bytes=most_bytes)
    finally:
        _end(process)


def _exchange(process: subprocess.Popen[bytes], given: bytes, *, until: float, timeout_s: float, most_bytes: int) -> Ran:
    if process.stdin is None or process.stdout is None:
        raise ModelFailed("the program has no pipes")
    output = bytearray()
    left = memoryview(given)
    with selectors.DefaultSelector() as selector:
        for stream, event in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, selectors.EVENT_READ)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        open_output = True
        while open_output:
            if (remaining := until - time.monotonic()) <= 0:
                raise ModelTimedOut(f"no answer within {timeout_s:.3g} s")
            # asked before it is read: once it has ended, all that it wrote is there, though a child may hold the pipe open
            ended = process.poll() is not None
            ready = [key.fileobj for key, _ in selector.select(0 if ended else min(remaining, _LOOK_EVERY_S))]
            if process.stdin in ready:
                left = _written(process, left)
                if not left:
                    selector.unregister(process.stdin)
                    process.stdin.close()
            if process.stdout in ready:
                chunk = os.read(process.stdout.fileno(), _CHUNK)
                output += chunk
                open_output = bool(chunk)
            elif ended:
                open_output = False
            if len(output) > most_bytes:
                raise ModelMalformed(f"the program wrote more than {most_bytes} bytes")
    with contextlib.suppress(subprocess.TimeoutExpired):
        return Ran(code=process.wait(max(0.0, until - time.monotonic())), output=bytes(output))
    raise ModelTimedOut(f"no end within {timeout_s:.3g} s")


def _written(process: subprocess.Popen[bytes], left: memoryview) -> memoryview:
    """Returns what is still to be written; nothing more when the program does not want to read it."""
    if process.stdin is None or not left:
        return left[:0]
    try:
        return left[os.write(process.stdin.fileno(), left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except OSError:
        return left[:0]


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # it leads its group, whose number stays taken while anyone is in it
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
