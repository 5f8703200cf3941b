"""JSON lines in, JSON lines out: one reply a line, as it comes, and a line that cannot be read gets an error in its place."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import typer

from tributary.core.errors import InvalidRequest
from tributary.core.limits import SUBJECT_CHARACTERS, check_short, check_storable, check_text
from tributary.edges.cli.failures import CommandFailed
from tributary.transfer.documents import LINE_BYTES, bounded_lines

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_BETWEEN_PROGRESS_S = 0.5
_FROM_STANDARD_INPUT = "-"
_SHOWN_CHARACTERS = 40


class _Literal(str):
    """A number as it was written, so that an id goes back as it came."""

    __slots__ = ()


class Fields(dict[str, object]):
    """A JSON object. `repeated` is the first key that it gives twice, None when there is none."""

    repeated: str | None = None


class _BadLine(Exception):
    """A line cannot be read; `id` is the one it gives, as JSON."""

    def __init__(self, rule: str, *, id: str = "null") -> None:  # noqa: A002  (the field's name)
        self.rule = rule
        self.id = id
        super().__init__(rule)


Answer = Callable[[Fields], Mapping[str, object]]
"""Returns what is said of one line's object, beside its id; raises InvalidRequest naming the field that breaks a rule."""


def answer_lines(file: Path | None, answer: Answer, *, told: Callable[[Mapping[str, object]], str]) -> None:
    """Answers each line of `file`, or of standard input, on standard output, and flushes each.

    A line that cannot be read gets {"id", "line", "error"} and the others go on; at the end there is then CommandFailed.
    `told` puts an answer in a word, for the summary of a file.
    """
    counts: Counter[str] = Counter()
    progress = _Progress()
    bad = 0
    with _opened(file) as stream:
        finite = _is_a_file(stream)
        for number, line in enumerate(_lines(stream), 1):
            try:
                given, shown = _read(line, first=number == 1)
                said = _answered(answer, given, shown)
                counts[told(said)] += 1
                row = f'{{"id": {shown}, {json.dumps(said, ensure_ascii=False)[1:]}'
            except _BadLine as error:
                bad += 1
                row = f'{{"id": {error.id}, "line": {number}, "error": {json.dumps(error.rule)}}}'
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            progress.at(number)
    progress.end()
    if finite and counts:
        sys.stderr.write(f"{_plural(counts.total() + bad)}: {_counted(counts)}.\n")
    if bad:
        detail = f"{_plural(bad)} of {counts.total() + bad} cannot be read; each has an error on standard output in its place"
        raise CommandFailed("invalid_request", detail)


def text_field(given: Fields, field: str, *, most_bytes: int, within: str = "", needed: bool = True) -> str:
    """Returns a text field that learn would take; one that is not `needed` may be left out, null or blank, and is then ''."""
    name = f"{within}.{field}" if within else field
    value = given.get(field)
    if value is None and not needed:
        return ""
    text = _text(given, field, name)
    if needed or text.strip():
        check_text(name, text, max_bytes=most_bytes)
    check_storable(name, text)
    return text if text.strip() else ""


def subject_field(given: Fields, *, within: str = "") -> str | None:
    """Returns the subject, None where there is none."""
    name = f"{within}.subject" if within else "subject"
    if given.get("subject") is None:
        return None
    subject = _text(given, "subject", name)
    check_short(name, subject, SUBJECT_CHARACTERS)
    return subject


def _text(given: Fields, field: str, name: str) -> str:
    if field not in given:
        raise InvalidRequest(name, "is missing")
    value = given[field]
    if not isinstance(value, str) or isinstance(value, _Literal):
        raise InvalidRequest(name, "must be a text")
    return value


# ---- lines


def _opened(file: Path | None) -> AbstractContextManager[BinaryIO]:
    if file is None or str(file) == _FROM_STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    if not file.exists() or file.is_dir():
        raise typer.BadParameter("there is no such file", param_hint="FILE")
    return file.open("rb")


def _is_a_file(stream: BinaryIO) -> bool:
    """Tells what ends by itself from a pipe or a terminal."""
    return stream.seekable()


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yields each line as soon as it is there; None for one that is too long. An empty input is one line."""
    number = 0
    for number, line in enumerate(bounded_lines(stream), 1):  # noqa: B007  (looked at afterwards)
        yield line
    if not number:
        yield b""


def _read(line: bytes | None, *, first: bool) -> tuple[Fields, str]:
    """Returns a line's object and its id as JSON; raises _BadLine."""
    if line is None:
        raise _BadLine(f"the line has more than {LINE_BYTES} bytes")
    if not line.strip():
        raise _BadLine("is empty; a JSON object was expected")
    try:
        text = line.decode("utf-8-sig" if first else "utf-8")
        given = json.loads(text, object_pairs_hook=_object, parse_int=_Literal, parse_float=_Literal, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _BadLine(f"byte {error.start + 1} of the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _BadLine(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise _BadLine("is not JSON that can be read: it is nested too deep, or holds NaN or Infinity") from None
    if not isinstance(given, Fields):
        raise _BadLine("must be a JSON object")
    return given, _id_of(given)


def _object(pairs: list[tuple[str, object]]) -> Fields:
    found = Fields(pairs)
    if len(found) < len(pairs):
        ((found.repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _id_of(given: Fields) -> str:
    """Returns the id as JSON."""
    if given.repeated == "id":
        raise _BadLine("the key 'id' is given twice")
    value = given.get("id")
    if isinstance(value, _Literal):
        return str(value)
    if not isinstance(value, str):
        raise _BadLine("id: is missing" if "id" not in given else "id: must be a text or a number")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _BadLine("id: must not contain a lone surrogate", id=json.dumps(value)) from None
    return json.dumps(value, ensure_ascii=False)


def _answered(answer: Answer, given: Fields, shown: str) -> Mapping[str, object]:
    try:
        for one in (given, *given.values()):
            if isinstance(one, Fields) and one.repeated is not None:
                raise _BadLine(f"the key {json.dumps(one.repeated[:_SHOWN_CHARACTERS])} is given twice", id=shown)
        return answer(given)
    except InvalidRequest as error:
        raise _BadLine(str(error), id=shown) from None


# ---- remarks


class _Progress:
    """Counts on a terminal, where nothing else is written meanwhile."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty() and not sys.stdout.isatty()
        self._next = time.monotonic() + _BETWEEN_PROGRESS_S
        self._shown = False

    def at(self, number: int) -> None:
        if self._shows and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_PROGRESS_S
            self._shown = True
            sys.stderr.write(f"\r{_plural(number)}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _plural(lines: int) -> str:
    return f"{lines} line" if lines == 1 else f"{lines} lines"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))
