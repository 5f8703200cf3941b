"""Child processes that never outlive the demo, and that are ended by their own handle alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Where `evals` is imported from."""
GRACE_S = 20.0
"""How long a child that was asked to end may take; a server also stops its database in that time."""
SHOWN_LINES = 15


class ProcessFailed(Exception):
    """A process of the demo did not do its work."""


def clean_environment(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Returns `environment` with nothing of the user's own Tributary or database in it, and TRIBUTARY_HOME at `home`."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(("TRIBUTARY_", "PG")) and name not in {"DATABASE_URL"}
    }
    return {**kept, "TRIBUTARY_HOME": str(home), "PYTHONUTF8": "1"}


@contextmanager
def running(
    arguments: Sequence[str], environment: Mapping[str, str], *, stdout: int | None, stderr: int | None
) -> Iterator[subprocess.Popen[str]]:
    """Yields the started process and ends it afterwards: asked first, killed when it does not listen.

    It gets a session of its own, so that a Ctrl-C reaches it through here and in order, not at the same time.
    """
    process = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[str], *, grace_s: float = GRACE_S) -> None:
    """Returns when the process is gone; it is killed when it has not ended `grace_s` seconds after it was asked to."""
    with uninterrupted():
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(grace_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def run_json(arguments: Sequence[str], environment: Mapping[str, str], *, say: Callable[[str], None]) -> dict[str, object]:
    """Runs a process that prints one JSON object; says each line of its standard error as it comes.

    Raises ProcessFailed, with what it said last, when it fails or prints something else.
    """
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as output,
        running(arguments, environment, stdout=output.fileno(), stderr=subprocess.PIPE) as process,
    ):
        said: list[str] = []
        for line in process.stderr or ():
            said.append(line.rstrip())
            say(said[-1])
        code = process.wait()
        output.seek(0)
        printed = output.read()
    what = " ".join(arguments[1:])
    if code != 0:
        raise ProcessFailed(f"`{what}` ended with exit code {code}:\n{tail(said or printed.splitlines())}")
    try:
        document = json.loads(printed)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ProcessFailed(f"`{what}` printed no JSON object:\n{tail(printed.splitlines())}")
    return document


def tail(lines: Sequence[str]) -> str:
    """Returns the last lines, indented."""
    return "\n".join(f"  {line}" for line in lines[-SHOWN_LINES:])


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command line that runs a module with this very interpreter."""
    return (sys.executable, "-m", module, *arguments)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keeps a second Ctrl-C, or SIGTERM, from leaving things behind while they are being cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal arrives here
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
