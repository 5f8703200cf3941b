"""`tributary evidence`: files that lessons refer to by hash."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import operator_of, session
from tributary.edges.cli.options import AsJson, Cell
from tributary.edges.cli.words import shown

if TYPE_CHECKING:
    from tributary.edges.cli.output import Output
    from tributary.transfer.evidence import Carried

app = typer.Typer(
    help="Hand files of evidence to the tribe, and fetch them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("put")
def put(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file, of up to 10 MB.")],
    content_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Its media type, as text/plain; else guessed from its name.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hand a file to the tribe, and print by what a lesson refers to it. The same bytes are kept once.

    \b
    Example: tributary evidence put deploy.log
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        kept = memory.attach(file, content_type=content_type)
    lines = [
        kept.ref,
        f"Refer to it from a lesson: --evidence file={kept.ref}",
        "A file that no lesson refers to is removed after a day.",
    ]
    output.result({"type": kept.type, "ref": kept.ref, "name": kept.note}, lines)


@app.command("get")
def get(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="sha256: and the file's hash, as a lesson's evidence has it.")],
    to: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="A new file to write it to; else standard output.")
    ] = None,
) -> None:
    """Fetch a file of the tribe; its bytes are checked by the hash.

    \b
    Example: tributary evidence get sha256:5f0c... --output deploy.log
    """
    from tributary.edges.cli.failures import CommandFailed

    doors, output = session(context, as_json=False)
    with doors.open_client() as memory:
        content = memory.evidence(ref)
    if to is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        with to.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise CommandFailed("wrong_standing", f"'{to}' is there already; choose another file") from None
    except OSError as error:
        raise CommandFailed("invalid_request", f"'{to}' cannot be written: {error.strerror}") from error
    output.remark(f"{len(content)} bytes were written to '{shown(str(to))}'.")


@app.command("export")
def export(
    context: typer.Context,
    tribe: Annotated[str, typer.Argument(metavar="TRIBE", help="The tribe's name.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go; what is there and whole stays.")],
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Keep the bytes of a tribe's files in a folder, beside its export. For operators. Safe to repeat.

    \b
    Example: tributary evidence export payments payments-files
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        done = operator.export_evidence(tribe, folder)
    _say(output, done, f"in '{shown(str(folder))}'")


@app.command("restore")
def restore(
    context: typer.Context,
    tribe: Annotated[str, typer.Argument(metavar="TRIBE", help="The restored tribe's name.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What 'tributary evidence export' filled.")],
    cell: Cell = None,
    as_json: AsJson = False,
) -> None:
    """Give a restored tribe the bytes of its files back; each is checked by its hash. For operators. Safe to repeat.

    \b
    Example: tributary evidence restore payments payments-files
    """
    doors, output = session(context, as_json=as_json)
    with operator_of(doors, cell) as operator:
        done = operator.restore_evidence(tribe, folder)
    _say(output, done, "where the tribe's files are kept")


def _say(output: Output, done: Carried, place: str) -> None:
    from tributary.edges.cli.failures import CommandFailed

    lines = [f"{done.files} file(s), {done.size} bytes, are now {place}; {done.there} were there before."]
    lines += [f"lost or damaged: sha256:{one}" for one in done.lost]
    output.result(asdict(done), lines)
    if done.lost:
        raise CommandFailed("not_found", f"{len(done.lost)} file(s) of the tribe are lost or damaged; the others came over")
