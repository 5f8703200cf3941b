"""`tributary export` and `restore`: a whole tribe out of a database, and into another."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell
from tributary.edges.cli.signals import stopping_on_signals
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.transfer.tribes import Summary

_BETWEEN_PROGRESS_S = 0.2
_ANYWHERE = "-"


def export(
    context: typer.Context,
    tribe: Annotated[str, typer.Argument(metavar="TRIBE", help="The tribe's name.")],
    output: Annotated[
        str,
        typer.Option("--output", metavar="FILE", help="A new file, that its owner alone may read; else standard output."),
    ] = _ANYWHERE,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Write a tribe with its whole history to a file. For operators.

    It is as one instant has it, and all that a restore needs to make an equal one.

    The file is as secret as the database. It holds no token.

    \b
    Example: tributary export payments --output payments.jsonl
    """
    doors, voice = session(context, as_json=as_json)
    if output == _ANYWHERE and as_json:
        raise typer.BadParameter("needs --output, since standard output is the export's", param_hint="--json")
    progress = _Progress()
    with stopping_on_signals(), operator_of(doors, cell) as operator, _written(output) as file:
        try:
            done = operator.export(tribe, file.write, progress=progress.at)
        finally:
            progress.end()
    lines = [_said(done, "was exported"), f"SHA-256 of all but the last line: {done.sha256}"]
    if output == _ANYWHERE:
        for line in lines:
            voice.remark(line)
    else:
        voice.result({**done.document(), "file": output}, lines)


def restore(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What 'tributary export' wrote, or - for standard input.")],
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The tribe's name here; else the one it had.")] = None,
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Make a tribe again from its export. For operators.

    It is equal in ids, ticks and history, and made wholly or not at all.

    A file that was cut off or altered is refused. Tokens are not in it: make new ones for the agents that need one.

    \b
    Example: tributary restore payments.jsonl
    """
    from tributary.transfer.tribes import lines_of

    doors, voice = session(context, as_json=as_json)
    progress = _Progress()
    with _read(file) as source, operator_of(doors, cell) as operator:
        try:
            done = operator.restore(lines_of(source), name=name, progress=progress.at)
        finally:
            progress.end()
    tribe = shown(done.name)
    lines = [
        _said(done, "was restored"),
        f"Its agents have no tokens here; give one to whom it belongs: tributary agent rotate AGENT --tribe {tribe}",
    ]
    voice.result(done.document(), lines)


def _said(done: Summary, what: str) -> str:
    lessons = done.rows.get("lesson", 0)
    return f"Tribe '{shown(done.name)}' {what}: {lessons} lesson(s), {sum(done.rows.values())} rows, tick {done.tick}."


@contextlib.contextmanager
def _written(path: str) -> Iterator[BinaryIO]:
    """Gives a new file, which is removed unless it is written whole; raises CommandFailed when it is there already."""
    if path == _ANYWHERE:
        yield sys.stdout.buffer
        return
    from tributary.edges.cli.failures import CommandFailed

    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CommandFailed("wrong_standing", f"'{path}' is there already; choose another file") from None
    except OSError as error:
        raise CommandFailed("invalid_request", f"'{path}' cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(opened, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        Path(path).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CommandFailed("invalid_request", f"'{path}' cannot be written: {error.strerror}") from error
        raise


@contextlib.contextmanager
def _read(path: str) -> Iterator[BinaryIO]:
    if path == _ANYWHERE:
        yield sys.stdin.buffer
        return
    from tributary.edges.cli.failures import CommandFailed

    try:
        file = Path(path).open("rb")  # noqa: SIM115  (closed below; only its opening is a failure of the path)
    except OSError as error:
        raise CommandFailed("invalid_request", f"'{path}' cannot be read: {error.strerror}") from error
    with file:
        yield file


class _Progress:
    """How far it has come, on a terminal."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()
        self._next = time.monotonic() + _BETWEEN_PROGRESS_S
        self._shown = False

    def at(self, table: str, rows: int) -> None:
        if self._shows and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_PROGRESS_S
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{table}: {rows} rows")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
