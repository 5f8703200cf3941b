"""What a check comes to: one line, with what to do unless it is well."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    BAD = "bad"
    UNKNOWN = "unknown"
    """It could not be told, which is not the same as well."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`found` says what is there and holds no secret; `advice` what to do, and is there unless it is ok."""

    check: str
    state: State
    found: str
    advice: str | None = None


def ok(check: str, found: str) -> Finding:
    return Finding(check=check, state=State.OK, found=found)


def bad(check: str, found: str, advice: str) -> Finding:
    return Finding(check=check, state=State.BAD, found=found, advice=advice)


def unknown(check: str, found: str, advice: str) -> Finding:
    return Finding(check=check, state=State.UNKNOWN, found=found, advice=advice)
