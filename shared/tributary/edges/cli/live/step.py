"""What a step is, and the ways in which one ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tributary.edges.cli.live.stage import Stage


class State(StrEnum):
    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to try. `covers` are operations of the API, `needs` steps without which it cannot be tried."""

    name: str
    does: Callable[[Stage], None]
    covers: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class Unexpected(Exception):
    """Something was not as it must be. `refused` tells that a request was answered by a refusal: nothing came of it."""

    def __init__(self, expected: str, found: str, *, refused: bool = False) -> None:
        self.expected = expected
        self.found = found
        self.refused = refused
        super().__init__(f"expected {expected}, found {found}")


class NotTried(Exception):
    """A step cannot be tried here, for the reason given."""


def equal(what: str, expected: object, found: object) -> None:
    """Raises Unexpected unless both are the same."""
    if expected != found:
        raise Unexpected(f"{what} {_said(expected)}", _said(found))


def holds(expected: str, condition: bool, found: object) -> None:
    """Raises Unexpected unless the condition holds."""
    if not condition:
        raise Unexpected(expected, _said(found))


def _said(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
