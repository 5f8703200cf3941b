"""Named statements, one `.sql` file a room: `-- name: what_it_is`, a line on its purpose, the statement."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def load(room: str) -> dict[str, LiteralString]:
    """Returns the statements of `store/sql/<room>.sql` by name. They are text that ships with the code, so literals."""
    source = files("tributary.store").joinpath("sql", f"{room}.sql").read_text(encoding="utf-8")
    pieces = _NAME.split(source)[1:]
    return {name: cast(LiteralString, body.strip()) for name, body in zip(pieces[::2], pieces[1::2], strict=True)}


def statement(room: str, name: str) -> LiteralString:
    return load(room)[name]
