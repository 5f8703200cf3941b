"""`tributary import`: documents and exports of other memories, over HTTP through the SDK."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson, Tags, pairs

if TYPE_CHECKING:
    from tributary.edges.cli.import_report import Report
    from tributary.edges.cli.import_run import Importer
    from tributary.edges.cli.output import Output
    from tributary.transfer.documents import ByteSource, Found

_GOES_ON = "Stopped. What was learned is kept, and the same command goes on where this one ended."


class FormatName(StrEnum):
    AUTO = "auto"
    MARKDOWN = "markdown"
    SKILL = "skill"
    AGENTS = "agents"
    JSONL = "jsonl"
    MEM0 = "mem0"
    BASIC_MEMORY = "basic-memory"


def import_(
    context: typer.Context,
    path: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, and folders of them.")],
    form: Annotated[
        FormatName, typer.Option("--format", help="What they are; auto tells by the names of the files.")
    ] = FormatName.AUTO,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would become of each lesson, and write nothing.")] = False,
    tag: Tags = None,
    retire_missing: Annotated[
        bool, typer.Option("--retire-missing", help="Retire your lessons of a file that it does not hold any more.")
    ] = False,
    root: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Sources are named from here on, so that they are the same on each computer.")
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Learn what runbooks, skills, AGENTS.md files and exports of other memories say.

    A lesson for each heading, bullet, line or memory, with where it stands as its source. Import a file again when it has
    changed: what is the same stays, what changed replaces its old wording.

    \b
    Example: tributary import docs/runbooks --dry-run
    """
    from tributary.edges.cli.import_report import REFUSED, Report
    from tributary.edges.cli.import_run import Importer
    from tributary.transfer.documents import Format, Found, find

    doors, output = session(context, as_json=as_json)
    report = Report(output, dry_run=dry_run)
    files: list[Found] = []
    for one in find(path, root=root, form=Format(form.value)):
        if isinstance(one, Found):
            files.append(one)
        else:
            report.refusal(one)
    with doors.open_client() as memory:
        importer = Importer(memory, report, tags=dict(pairs(tag, "--tag")), dry_run=dry_run, retire_missing=retire_missing)
        _import_all(importer, report, files, output)
    report.end()
    if refused := report.counts[REFUSED]:
        raise CommandFailed("invalid_request", f"{refused} could not be imported; each is named with its reason")


def _import_all(importer: Importer, report: Report, files: Sequence[Found], output: Output) -> None:
    from tributary.transfer.documents import Refusal

    try:
        with _progress(report, files, wanted=not output.as_json and sys.stderr.isatty()) as advance:
            for one in files:
                try:
                    stream = one.path.open("rb")
                except OSError as error:
                    report.refusal(Refusal(file=one.name, reason=f"cannot be read: {error.strerror}"))
                    continue
                with stream:
                    importer.file(one, _Watched(stream, advance))
            importer.finish()
    except BaseException:
        report.end()
        output.remark(_GOES_ON)
        raise


class _Watched:
    """A file that tells how much of it was read."""

    def __init__(self, stream: ByteSource, advance: Callable[[int], None]) -> None:
        self._stream = stream
        self._advance = advance

    def read(self, size: int, /) -> bytes:
        return self._told(self._stream.read(size))

    def readline(self, size: int, /) -> bytes:
        return self._told(self._stream.readline(size))

    def _told(self, read: bytes) -> bytes:
        self._advance(len(read))
        return read


@contextmanager
def _progress(report: Report, files: Sequence[Found], *, wanted: bool) -> Iterator[Callable[[int], None]]:
    """Gives what is told of bytes as they are read. `wanted` shows a bar on standard error."""
    if not wanted:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("importing", total=sum(one.bytes for one in files))
        before = report.say
        if sys.stdout.isatty():  # else lines go to a file, and are no business of the bar's
            report.say = lambda lines: bar.console.out("\n".join(lines), highlight=False)
        try:
            yield lambda read: bar.advance(task, read)
        finally:
            report.say = before
