"""Golden files, one JSON object a line. A row goes in whole or not at all, and no other line is touched."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evals.review.rows import JUDGE_PAIRS, LIVE_ONLY, SCREEN_CASES, Row

DATA = Path(__file__).parents[1] / "data"
NOTE = ".review-begun.json"


@dataclass(frozen=True, kw_only=True)
class Begun:
    """An acceptance whose row is written, or about to be, while the queue may not know yet."""

    review: str
    golden: str
    file: str


@dataclass(frozen=True, kw_only=True)
class Golden:
    """The golden files in a folder."""

    folder: Path = DATA

    def rows(self, file: str) -> list[dict[str, Any]]:
        """Returns the rows of a file, in order."""
        return [json.loads(line) for line in self._lines(file)]

    def find(self, row_id: str) -> tuple[str, dict[str, Any]] | None:
        """Returns the file and the fields of the row of this id, None when there is none."""
        for file in (JUDGE_PAIRS, SCREEN_CASES, LIVE_ONLY):
            for row in self.rows(file):
                if row["id"] == row_id:
                    return file, row
        return None

    def alike(self, row: Row) -> str | None:
        """Returns the id of another row that says the very same, None when there is none."""
        files = (JUDGE_PAIRS,) if row.file == JUDGE_PAIRS else (SCREEN_CASES, LIVE_ONLY)
        for file in files:
            for fields in self.rows(file):
                if fields["id"] != row.id and Row(file=file, id=fields["id"], fields=fields).said == row.said:
                    return str(fields["id"])
        return None

    def add(self, row: Row) -> None:
        """Writes a row at the end of its file."""
        self._write(row.file, [*self._lines(row.file), written_row(row.fields)])

    def take_out(self, row_id: str) -> bool:
        """Removes the row of this id; tells whether it was there."""
        found = self.find(row_id)
        if found is not None:
            self._write(found[0], [line for line in self._lines(found[0]) if json.loads(line)["id"] != row_id])
        return found is not None

    def begin(self, begun: Begun) -> None:
        """Notes what is about to be done, so that a run that dies in between can be set right by the next."""
        _replace(self.folder / NOTE, json.dumps(asdict(begun)) + "\n")

    def begun(self) -> Begun | None:
        """Returns what an earlier run began and did not end."""
        try:
            return Begun(**json.loads((self.folder / NOTE).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def end(self) -> None:
        """Forgets what was begun."""
        (self.folder / NOTE).unlink(missing_ok=True)

    def _lines(self, file: str) -> list[str]:
        path = self.folder / file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return [line for line in text.split("\n") if line]

    def _write(self, file: str, lines: Iterable[str]) -> None:
        _replace(self.folder / file, "".join(f"{line}\n" for line in lines))


def written_row(fields: Mapping[str, Any]) -> str:
    """Returns a row as one line. Whatever a reader might take for the end of a line, or a terminal obey, is an escape."""
    return "".join(_escaped(json.dumps(fields, ensure_ascii=False)))


def _escaped(text: str) -> Iterator[str]:
    for character in text:
        yield character if character.isprintable() else json.dumps(character)[1:-1]


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
