"""Commands that a text names, held to what there is, without running any: `tributary`, `make`, `python -m`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer._click import exceptions as refused  # Typer brings a Click of its own along, and exports BadParameter alone
from typer.main import get_command

from tests.docs_check.blocks import COMMANDS, ROOT, blocks, prose
from tributary.edges.cli.app import app

ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>", "(", ")"}
MADE_UP = re.compile(r"<[^<>|]*>")
"""What a reader puts in by himself, such as `<this folder>`; read as one word."""
MAKE_OPTIONS = re.compile(r"[A-Z_]+=|-n$")


def complaints(page: str, text: str) -> list[str]:
    """Returns each command of a page, in blocks and in inline code, that does not exist or has no such option or argument."""
    found = []
    for block in blocks(page, text):
        if block.language in COMMANDS and block.language != "python":
            for line, words in said(block.text):
                found += [f"{page}:{block.line + line}: {fault}" for fault in faults(words, whole=True)]
    for number, line_of_prose in enumerate(prose(text).splitlines(), start=1):
        for code in re.findall(r"`([^`]+)`", line_of_prose):
            for _, words in said(re.sub(r"\[(-[^]]*)\]", r"\1", code)):
                found += [f"{page}:{number}: {fault}" for fault in faults(words, whole=False)]
    return found


def helped() -> list[str]:
    """Returns each command of the examples in the help texts of `tributary` that does not exist or could not be run."""
    found = []
    for path, command in every_command():
        for example in examples(command.help or ""):
            for _, words in said(example):
                found += [f"{path} --help: {fault}" for fault in faults(words, whole=True)]
    return found


def examples(text: str) -> list[str]:
    """Returns the commands that a help text shows, as lines: what follows `Example:` or stands alone on its line."""
    return [match[1] for match in re.finditer(r"(?m)^\s*(?:Examples?: )?((?:\S+=\S+ )*tributary .*)$", text)]


@cache
def _root() -> Any:
    return get_command(app)


def every_command() -> Iterator[tuple[str, Any]]:
    """Yields every command and group by the words that a user types."""
    waiting: list[tuple[str, Any]] = [("tributary", _root())]
    while waiting:
        path, command = waiting.pop()
        waiting += [(f"{path} {word}", one) for word, one in getattr(command, "commands", {}).items()]
        yield path, command


def said(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the simple commands of a text in their order, as words, each with the line of the text that it begins on."""
    lines = MADE_UP.sub("MADE-UP", text).splitlines()
    number = 0
    while number < len(lines):
        first, whole = number, lines[number]
        while whole.endswith("\\") and number + 1 < len(lines):
            number += 1
            whole = whole[:-1] + lines[number]
        number += 1
        for command in _simple(whole):
            yield first + 1, command


def _simple(line: str) -> Iterator[list[str]]:
    inner = re.findall(r'"\$\((.*?)\)"|\$\((.*?)\)', line)
    for pair in inner:
        yield from _simple("".join(pair))
    line = re.sub(r'"\$\(.*?\)"|\$\(.*?\)', "MADE-UP", line)
    comment = next((one for one in re.finditer(r"(^|\s)# ", line) if not line[: one.start()].count('"') % 2), None)
    reader = shlex.shlex(line[: comment.start()] if comment else line, posix=True, punctuation_chars=True)
    reader.commenters, reader.whitespace_split = "", True
    try:
        words = list(reader)
    except ValueError:  # a quotation that does not end: no command, but words of a sentence
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if word not in ENDS:
            command.append(word)
            continue
        while command and re.match(r"[A-Z_]+=", command[0]):
            command.pop(0)
        if command[:1] == ["export"]:
            command = []
        if command:
            yield command
        command = []
        if word in (">", ">>", "<", "2>"):
            command = ["a file:"]


def faults(words: list[str], *, whole: bool) -> list[str]:
    """Returns what is wrong with a command, nothing when it could be run; one that is not ours is never wrong.

    Where it is not `whole`, it only names a command, and may leave out what that cannot do without.
    """
    if "--" in words:  # one program's command for another: claude mcp add tributary -- tributary mcp
        inner = faults(words[words.index("--") + 1 :], whole=whole)
        return inner + faults(words[: words.index("--")], whole=whole)
    program = words[0].rsplit("/", 1)[-1]
    if program == "tributary":
        return _tributary(words[1:], whole=whole)
    if program == "make":
        return _make(words[1:])
    if program.startswith("python") and words[1:2] == ["-m"]:
        return _module(words[2:])
    if program.startswith("python") and words[1:2] and words[1].endswith(".py") and not (ROOT / words[1]).is_file():
        return [f"there is no file {words[1]}"]
    return []


def _tributary(words: list[str], *, whole: bool) -> list[str]:
    said_whole = " ".join(["tributary", *words])
    words = [word for word in words if word != "..." or whole]
    if set(words) & {"--help", "--version"}:
        words = words[: min(words.index(word) for word in ("--help", "--version") if word in words)]
        whole = False
    command = _root()
    context = None
    path = "tributary"
    while True:
        try:
            context = command.make_context(path, list(words), parent=context)
        except refused.NoArgsIsHelpError:
            return [f"`{said_whole}`: nothing is done by `{path}` alone"] if whole else []
        except refused.MissingParameter as error:
            return [f"`{said_whole}`: {error.format_message()}"] if whole else []
        except refused.UsageError as error:
            left_out = isinstance(error, refused.BadOptionUsage) and "requires an argument" in error.message
            stands_for_any = isinstance(error, refused.BadParameter) and any(word.isupper() for word in words)
            return [] if not whole and (left_out or stands_for_any) else [f"`{said_whole}`: {error.format_message()}"]
        left = [*context._protected_args, *context.args]
        if not left or not hasattr(command, "resolve_command") or (left[0].isupper() and not whole):
            return []
        try:
            path, command, words = command.resolve_command(context, left)
        except refused.UsageError as error:
            return [f"`{said_whole}`: {error.format_message()}"]


@cache
def targets() -> dict[str, bool]:
    """Returns the targets of the Makefile, and whether `make help` lists each."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {match[1]: bool(match[2]) for match in re.finditer(r"(?m)^([a-z0-9-]+):(?!=)(.*  ## )?", text)}


def _make(words: list[str]) -> list[str]:
    named = [word for word in words if not MAKE_OPTIONS.match(word) and re.fullmatch(r"[a-z0-9][\w.-]*", word)]
    return [f"the Makefile has no target {word!r}" for word in named if word not in targets()]


def _module(words: list[str]) -> list[str]:
    if not words or words[0].split(".")[0] not in OURS:
        return []
    file = _file_of(words[0])
    if file is None:
        return [f"there is no module {words[0]!r} that could be run"]
    options = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
    return [f"`python -m {words[0]}` has no option {option}" for option in options if f'"{option}"' not in _sources(file)]


OURS = ("tests", "evals", "benchmarks", "layers", "infra", "tributary")


def _file_of(module: str) -> Path | None:
    base = ROOT.joinpath(*(["shared"] if module.startswith("tributary") else []), *module.split("."))
    found = [path for path in (base / "__main__.py", base.with_suffix(".py")) if path.is_file()]
    return found[0] if found else None


@cache
def _sources(file: Path) -> str:
    """Returns the text that a module's options may be in: its own, and its package's when it is run as one."""
    files = file.parent.glob("*.py") if file.name == "__main__.py" else [file]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)
