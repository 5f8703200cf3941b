"""The form of an export: JSON, one value a line; the first says of what, the last how much it was.

    {"format": "tributary-export", "version": 1, "schema": "...", "tribe": {"id": "...", "name": "..."}, "tick": 418}
    {"table": "lesson", "row": {"lesson_id": "...", ...}}
    {"end": {"lines": 5120, "rows": {"tribe": 1, "lesson": 300, ...}, "sha256": "..."}}

`lines` counts those before the last, and `sha256` is over their bytes, with their line ends. No row says whose it is: all are the
tribe's of the first line.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn
from uuid import UUID

import psycopg

from tributary.core.errors import InvalidRequest
from tributary.core.limits import check_name

FORMAT = "tributary-export"
VERSION = 1
MOST_LINE_BYTES = 32 * 1024 * 1024
"""Of one line: far above the longest row that the rules of a lesson and a decision allow."""

Progress = Callable[[str, int], None]
"""Told the table that is at hand and how many rows of it are done."""


@dataclass(frozen=True, kw_only=True)
class Header:
    tribe_id: UUID
    name: str
    tick: int
    schema: str

    def line(self) -> bytes:
        tribe = {"id": str(self.tribe_id), "name": self.name}
        return _line({"format": FORMAT, "version": VERSION, "schema": self.schema, "tribe": tribe, "tick": self.tick})


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What was exported or restored: whose it is, up to which tick, and how many rows of each table."""

    tribe_id: UUID
    name: str
    tick: int
    rows: Mapping[str, int]
    sha256: str

    def document(self) -> dict[str, object]:
        return {
            "tribe": self.name,
            "id": str(self.tribe_id),
            "tick": self.tick,
            "rows": dict(self.rows),
            "sha256": self.sha256,
        }


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of an export that holds a row: `number` counts lines from 1, `text` is the line as it stands."""

    number: int
    table: str
    values: dict[str, Any]
    text: str


class Tally:
    """Counts the lines of an export as they go by, and digests them."""

    def __init__(self) -> None:
        self.lines = 0
        self.rows: Counter[str] = Counter()
        self._digest = hashlib.sha256()

    def add(self, line: bytes, table: str | None = None) -> None:
        self.lines += 1
        self._digest.update(line)
        if table is not None:
            self.rows[table] += 1

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def end(self) -> dict[str, object]:
        return {"lines": self.lines, "rows": dict(self.rows), "sha256": self.sha256}

    def line(self) -> bytes:
        """Returns the last line of the export."""
        return _line({"end": self.end()})


class Reader:
    """Reads an export line by line, and raises InvalidRequest, naming the line, for anything that an export does not have.

    `header` is read at once. That `rows` ends without an error says that the file is whole and as it was written.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self.tally = Tally()
        line = self._next()
        self.header = _header(self._document(line))
        self.tally.add(line)

    def rows(self) -> Iterator[Row]:
        while True:
            line = self._next()
            document = self._document(line)
            if set(document) == {"end"}:
                self._check_end(document["end"])
                return
            table, values = document.get("table"), document.get("row")
            if set(document) != {"table", "row"} or not isinstance(table, str) or not isinstance(values, dict):
                refuse(self._number, "must be an object of 'table' and 'row'")
            row = Row(number=self._number, table=table, values=values, text=line.decode())
            self.tally.add(line, table)
            yield row

    @property
    def _number(self) -> int:
        """Of the line that is at hand."""
        return self.tally.lines + 1

    def _next(self) -> bytes:
        line = next(self._lines, None)
        if line is None:
            refuse(self._number, "is missing: the file was cut off")
        if len(line) > MOST_LINE_BYTES:
            refuse(self._number, f"is longer than {MOST_LINE_BYTES} bytes")
        if not line.endswith(b"\n"):
            refuse(self._number, "does not end: the file was cut off")
        return line

    def _document(self, line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            refuse(self._number, "is not JSON in UTF-8, or says the same key twice")
        if not isinstance(found, dict):
            refuse(self._number, "must be a JSON object")
        return found

    def _check_end(self, said: object) -> None:
        if said != self.tally.end():
            refuse(self._number, "does not fit the lines before it: the file was altered, or lines of it are missing")
        if next(self._lines, None) is not None:
            refuse(self._number + 1, "must not be there: the export ended before it")


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Returns the lines of a file, none of them much longer than an export's may be."""
    return iter(lambda: file.readline(MOST_LINE_BYTES + 1), b"")


def about_the_data(error: psycopg.Error) -> bool:
    """Tells whether the database refused what a row says, by SQLSTATE: a value, a rule of the schema, or a trigger of ours."""
    return error.sqlstate is not None and error.sqlstate.startswith(("22", "23", "TB"))


def refuse(number: int, rule: str) -> NoReturn:
    """Raises the refusal of a file for what one of its lines says."""
    raise InvalidRequest(f"line {number}", rule)


def _header(document: Mapping[str, Any]) -> Header:
    if document.get("format") != FORMAT:
        refuse(1, "does not begin an export of a tribe; make one with 'tributary export'")
    if document.get("version") != VERSION:
        refuse(1, f"is of version {document.get('version')!r} of the format; this code reads version {VERSION}")
    tribe = document.get("tribe")
    if (
        set(document) != {"format", "version", "schema", "tribe", "tick"}
        or not isinstance(tribe, dict)
        or set(tribe) != {"id", "name"}
    ):
        refuse(1, "must say 'format', 'version', 'schema', 'tribe' with its 'id' and 'name', and 'tick', and nothing else")
    tick, schema = document["tick"], document["schema"]
    if not isinstance(schema, str) or type(tick) is not int or not 0 <= tick < 2**63:
        refuse(1, "must say the schema as a string and the tick as a number from 0 up")
    if not isinstance(tribe["name"], str):
        refuse(1, "must name the tribe by a string")
    check_name("line 1: name", tribe["name"])
    return Header(tribe_id=_uuid(tribe["id"]), name=tribe["name"], tick=tick, schema=schema)


def _uuid(text: object) -> UUID:
    if not isinstance(text, str) or not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
        refuse(1, "must give the tribe's id as a UUID in lower case")
    return UUID(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _no_constant(_: str) -> NoReturn:
    raise ValueError


def _line(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def vector_text(encoded: str) -> str:
    """Returns pgvector's text form of a halfvec that was written as the base64 of its binary form; raises ValueError."""
    try:
        packed = base64.b64decode(encoded, validate=True)
        dimension, zero = struct.unpack_from(">HH", packed)
        values = struct.unpack_from(f">{dimension}e", packed, 4)
    except (binascii.Error, struct.error) as error:
        raise ValueError("is not a vector") from error
    if zero != 0 or len(packed) != 4 + 2 * dimension:
        raise ValueError("is not a vector")
    return f"[{','.join(map(repr, values))}]"
