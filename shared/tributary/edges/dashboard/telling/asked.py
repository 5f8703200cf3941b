"""What people type into a page's fields, as the SDK takes it."""

from __future__ import annotations

import re
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from tributary.client.errors import broken
from tributary.contract import values

_TICK = re.compile(r"[0-9]{1,18}", re.ASCII)
_BETWEEN_TAGS = re.compile(r"[,\n]")


def moment_of(text: str, field: str = "as_of") -> int | datetime | None:
    """Returns the tick or the time that a text names, None for an empty one; raises InvalidRequest for anything else."""
    if not text:
        return None
    if _TICK.fullmatch(text):
        return int(text)
    try:
        # A + that nobody encoded came as a blank.
        return TypeAdapter(values.Moment).validate_python(re.sub(r" (?=\d\d:\d\d$)", "+", text))
    except ValidationError as error:
        raise broken(field, "must be a tick, or a time with offset such as 2026-03-01T12:00:00Z") from error


def tags_of(text: str, field: str = "tags") -> dict[str, str]:
    """Returns the tags of 'env=prod, region=eu'; raises InvalidRequest for what is no such list."""
    tags: dict[str, str] = {}
    for one in filter(None, map(str.strip, _BETWEEN_TAGS.split(text))):
        key, equals, value = (part.strip() for part in one.partition("="))
        if not (key and equals and value):
            raise broken(field, "must be given as key=value, several with commas between them")
        tags[key] = value
    return tags


def whole_of(text: str, field: str, rule: str, *, most_digits: int = 18) -> int:
    """Returns the whole number that a text is; raises InvalidRequest with `rule` for any other text."""
    if not (text.isascii() and text.isdecimal() and len(text) <= most_digits):
        raise broken(field, rule)
    return int(text)


def number_of(text: str, field: str, *, least: float, most: float, default: float) -> float:
    """Returns the number that a text is, the default for an empty one; raises InvalidRequest for any that does not fit."""
    if not text:
        return default
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise broken(field, f"must be a number from {least:g} to {most:g}")
    return number
